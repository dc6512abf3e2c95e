package dev.pgapply.it;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// `docs/coverage.md` says of each scenario and case where it is shown: nothing is missing, and what it names
/// is there.
final class CoverageTest {

    private static final Path ROOT = Path.of("..");
    private static final int SCENARIOS = 319;
    private static final int FIELD_CASES = 76;

    /// `| 12 | text | Class.method, Class.method |`, with or without a family.
    private static final Pattern LINE = Pattern.compile("^\\| (#?\\d+|B\\d{3}) \\|.*\\| ([^|]+) \\|$");

    private static final Pattern TEST = Pattern.compile("\\b([A-Z]\\w*(?:IT|Test))\\.(\\w+)");

    @Test
    void everyScenarioAndCaseIsListedOnce() throws IOException {
        List<String> problems = new ArrayList<>();
        Map<String, Integer> counts = new TreeMap<>();
        lines().forEach(line -> counts.merge(id(line), 1, Integer::sum));
        for (int i = 1; i <= SCENARIOS; i++) {
            if (counts.getOrDefault("#" + i, 0) != 1) {
                problems.add("#" + i + " is listed " + counts.getOrDefault("#" + i, 0) + " times");
            }
        }
        long cases = counts.keySet().stream().filter(id -> id.startsWith("B")).count();
        if (cases != FIELD_CASES) {
            problems.add(cases + " field cases instead of " + FIELD_CASES);
        }
        counts.forEach((id, count) -> {
            if (count > 1) {
                problems.add(id + " is listed " + count + " times");
            }
        });

        assertEquals(List.of(), problems);
    }

    @Test
    void namedTestsExistAndSayWhatTheyShow() throws IOException {
        Map<String, String> sources = sources();
        List<String> problems = new ArrayList<>();
        for (Matcher line : lines()) {
            String place = line.group(2);
            Matcher test = TEST.matcher(place);
            boolean named = false;
            while (test.find()) {
                named = true;
                String source = sources.get(test.group(1));
                if (source == null) {
                    problems.add(id(line) + ": there is no " + test.group(1));
                } else if (!source.contains(" " + test.group(2) + "(")) {
                    problems.add(id(line) + ": " + test.group(1) + " has no " + test.group(2));
                } else if (!Pattern.compile(Pattern.quote(id(line)) + "(?!\\d)")
                        .matcher(source)
                        .find()) {
                    problems.add(id(line) + ": " + test.group(1) + " does not mention it");
                }
            }
            if (!named && !place.startsWith("waits for ") && !place.startsWith("not applicable: ")) {
                problems.add(id(line) + ": neither a test nor a reason: " + place);
            }
        }

        assertEquals(List.of(), problems);
    }

    private static List<Matcher> lines() throws IOException {
        List<Matcher> lines = new ArrayList<>();
        for (String line : Files.readAllLines(ROOT.resolve("docs/coverage.md"))) {
            Matcher matcher = LINE.matcher(line);
            if (matcher.matches()) {
                lines.add(matcher);
            }
        }
        return lines;
    }

    private static String id(Matcher line) {
        String id = line.group(1);
        return id.startsWith("B") || id.startsWith("#") ? id : "#" + id;
    }

    private static Map<String, String> sources() throws IOException {
        Map<String, String> sources = new TreeMap<>();
        for (String module : List.of("it-tests", "decoder", "schema-sync", "apply-engine", "cli")) {
            try (Stream<Path> files = Files.walk(ROOT.resolve(module).resolve("src/test/java"))) {
                for (Path file :
                        files.filter(f -> f.toString().endsWith(".java")).toList()) {
                    String name = file.getFileName().toString();
                    sources.put(name.substring(0, name.length() - 5), Files.readString(file));
                }
            }
        }
        return sources;
    }
}
