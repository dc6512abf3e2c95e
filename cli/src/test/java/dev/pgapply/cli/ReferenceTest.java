package dev.pgapply.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pgapply.apply.ErrorCode;
import dev.pgapply.cli.settings.Option;
import dev.pgapply.cli.settings.Option.Kind;
import dev.pgapply.cli.settings.Options;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class ReferenceTest {

    private static final int WIDTH = 120;

    private final String reference = read();

    @Test
    void everyOptionHasOneLineInHelp() {
        List<String> lines = Help.options(Options.all()).lines().toList();
        for (Option<?> option : Options.all()) {
            List<String> its = lines.stream()
                    .filter(line -> line.strip().replaceFirst("^-., ", "").startsWith(option.flag() + " "))
                    .toList();
            assertEquals(1, its.size(), option.flag());
            assertTrue(its.getFirst().contains(option.description()), its.getFirst());
            assertTrue(option.kind() == Kind.SWITCH || its.getFirst().contains(option.fallback()), its.getFirst());
            assertTrue(its.getFirst().length() <= WIDTH, its.getFirst());
        }
    }

    @Test
    void theReferenceHasEveryOptionInAllSpellingsWithItsDefault() {
        for (Option<?> option : Options.all()) {
            String row = reference
                    .lines()
                    .filter(line -> line.matches("\\| (`-.`, )?`" + option.flag() + "\\b.*"))
                    .findFirst()
                    .orElseThrow(() -> new AssertionError(option.flag() + " is not in the reference"));
            assertTrue(row.contains("`" + option.variable() + "`"), row);
            String key = option.flag().equals("--config") ? "" : "`" + option.key() + "`";
            assertTrue(row.contains(key), row);
            assertTrue(option.fallback().isEmpty() || row.contains("`" + option.fallback() + "`"), row);
        }
    }

    @Test
    void theReferenceHasNoOptionThatDoesNotExist() {
        Set<String> known = Options.all().stream().map(Option::flag).collect(Collectors.toCollection(TreeSet::new));
        known.addAll(Set.of("--help", "--version", "--json", "--keep", "--seconds"));
        Matcher matcher = Pattern.compile("(?<![\\w-])--[a-z][a-z-]+").matcher(reference);
        while (matcher.find()) {
            assertTrue(known.contains(matcher.group()), matcher.group());
        }
    }

    @Test
    void theReferenceHasEveryExitAndErrorCode() {
        for (ExitCode code : ExitCode.values()) {
            assertTrue(reference.contains("| " + code.number() + " |"), code.name());
        }
        for (ErrorCode code : ErrorCode.values()) {
            assertTrue(reference.contains("| `" + code + "` |"), code.name());
        }
    }

    private static String read() {
        try {
            return Files.readString(Path.of("..", "docs", "reference.md"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
