package dev.pgapply.decoder;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;

/// The messages that real servers sent, kept in `src/test/resources/vectors`.
///
/// `SCENARIO.sql` holds the SQL; `SCENARIO/MAJOR-OPTIONS.hex` what one server made of it, in the order it was
/// sent: a line of hexadecimal digits for each message, and below it, indented, what it says. `VectorCaptureIT`
/// captures them anew.
public final class Vectors {

    private static final Path FOLDER = Path.of("src/test/resources/vectors");

    private Vectors() {}

    /// What one server sent for one scenario under one set of options.
    ///
    /// @param name `scenario/major-options`
    public record Capture(String name, List<Message> messages) {

        public String scenario() {
            return name.substring(0, name.indexOf('/'));
        }

        public int major() {
            return Integer.parseInt(name.substring(name.indexOf('/') + 1, name.indexOf('-')));
        }

        public String options() {
            return name.substring(name.indexOf('-') + 1);
        }

        @Override
        public String toString() {
            return name;
        }
    }

    /// One message and the text beside it.
    public record Message(Bytes bytes, String expected) {

        public PgOutputMessage decode(PgOutputDecoder decoder) {
            return decoder.decode(bytes.array(), bytes.offset(), bytes.length());
        }
    }

    public static Stream<Capture> all() {
        try (Stream<Path> files = Files.walk(FOLDER)) {
            return files.filter(file -> file.toString().endsWith(".hex")).sorted().map(Vectors::read).toList().stream();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// A capture by its name.
    public static Capture get(String name) {
        return read(FOLDER.resolve(name + ".hex"));
    }

    private static Capture read(Path file) {
        try {
            List<Message> messages = new ArrayList<>();
            byte[] bytes = new byte[0];
            for (String line : Files.readAllLines(file)) {
                if (line.startsWith("  ")) {
                    messages.add(new Message(Bytes.copyOf(bytes), line.strip()));
                } else if (!line.startsWith("#")) {
                    bytes = HexFormat.of().parseHex(line);
                }
            }
            return new Capture(
                    FOLDER.relativize(file).toString().replace('\\', '/').replace(".hex", ""), messages);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Writes the text below every message of every file anew, for a person to compare: what the tests of this
    /// module do not check is whether this text is right.
    static void describeAnew() throws IOException {
        try (Stream<Path> files = Files.walk(FOLDER)) {
            for (Path file : files.filter(f -> f.toString().endsWith(".hex")).toList()) {
                PgOutputDecoder decoder = new PgOutputDecoder();
                List<String> lines = new ArrayList<>();
                for (String line : Files.readAllLines(file)) {
                    if (line.startsWith("#")) {
                        lines.add(line);
                    } else if (!line.startsWith("  ")) {
                        byte[] bytes = HexFormat.of().parseHex(line);
                        lines.add(line);
                        lines.add("  " + MessageText.of(decoder.decode(bytes, 0, bytes.length)));
                    }
                }
                Files.write(file, lines);
            }
        }
    }
}
