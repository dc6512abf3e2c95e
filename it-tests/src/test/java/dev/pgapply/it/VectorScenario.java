package dev.pgapply.it;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/// The SQL that golden vectors of the decoder were captured with: one file, read from top to bottom.
///
/// The head says what is shown, from which major version on, and with which options of the plug-in the changes
/// are read: `-- decode NAME (FROM-): option=value …`, one set of vectors each. What follows makes the tables;
/// `-- capture PUBLICATION, …` makes the slot, and only what comes after it is captured; `-- session NAME` goes
/// on in another session; `-- cleanup` begins what is done once the changes were read. A statement ends with a
/// semicolon at the end of a line.
record VectorScenario(
        String name,
        int fromMajor,
        boolean twoPhaseSlot,
        List<Decode> decodes,
        List<String> setup,
        List<String> publications,
        List<Step> steps,
        List<String> cleanup) {

    private static final Pattern SERVERS = Pattern.compile("-- servers: (\\d+)-");
    private static final Pattern DECODE = Pattern.compile("-- decode (\\S+)(?: \\((\\d+)-\\))?: (.*)");

    /// Options of pgoutput that the captured changes are read with.
    record Decode(String name, int fromMajor, Map<String, String> options) {}

    /// A statement and the session that runs it.
    record Step(String session, String sql) {}

    /// All scenarios of a folder, by name.
    static List<VectorScenario> readAll(Path folder) {
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(file -> file.toString().endsWith(".sql"))
                    .sorted()
                    .map(VectorScenario::read)
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static VectorScenario read(Path file) {
        try {
            return new Reader(file).read();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static final class Reader {

        private final Path file;
        private int fromMajor;
        private boolean twoPhaseSlot;
        private final List<Decode> decodes = new ArrayList<>();
        private final List<String> setup = new ArrayList<>();
        private List<String> publications = List.of();
        private final List<Step> steps = new ArrayList<>();
        private final List<String> cleanup = new ArrayList<>();
        private final StringBuilder statement = new StringBuilder();
        private Part part = Part.SETUP;
        private String session = "a";

        private enum Part {
            SETUP,
            CAPTURE,
            CLEANUP
        }

        Reader(Path file) {
            this.file = file;
        }

        VectorScenario read() throws IOException {
            for (String line : Files.readAllLines(file)) {
                if (line.startsWith("--")) {
                    directive(line);
                } else {
                    statement.append(line);
                    if (line.endsWith(";")) {
                        finish(statement.substring(0, statement.length() - 1));
                        statement.setLength(0);
                    } else {
                        statement.append('\n');
                    }
                }
            }
            String name = file.getFileName().toString().replace(".sql", "");
            return new VectorScenario(name, fromMajor, twoPhaseSlot, decodes, setup, publications, steps, cleanup);
        }

        private void directive(String line) {
            Matcher servers = SERVERS.matcher(line);
            Matcher decode = DECODE.matcher(line);
            if (servers.matches()) {
                fromMajor = Integer.parseInt(servers.group(1));
            } else if (decode.matches()) {
                Map<String, String> options = new LinkedHashMap<>();
                for (String option : decode.group(3).split(" ", -1)) {
                    options.put(option.substring(0, option.indexOf('=')), option.substring(option.indexOf('=') + 1));
                }
                int from = decode.group(2) == null ? fromMajor : Integer.parseInt(decode.group(2));
                decodes.add(new Decode(decode.group(1), from, options));
            } else if (line.equals("-- slot: two_phase")) {
                twoPhaseSlot = true;
            } else if (line.startsWith("-- capture ")) {
                publications = List.of(line.substring("-- capture ".length()).split(", "));
                part = Part.CAPTURE;
            } else if (line.startsWith("-- session ")) {
                session = line.substring("-- session ".length());
            } else if (line.equals("-- cleanup")) {
                part = Part.CLEANUP;
            }
        }

        private void finish(String sql) {
            switch (part) {
                case SETUP -> setup.add(sql);
                case CAPTURE -> steps.add(new Step(session, sql));
                case CLEANUP -> cleanup.add(sql);
            }
        }
    }
}
