package dev.pgapply.cli.settings;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ConfigFileTest {

    private static final Map<String, String> VARIABLES = Map.of("HOST", "db1", "ODD", "a: '$\\1' #x");

    @Test
    void everyValueIsTheTextThatStandsThere() {
        assertEquals(
                Map.of(
                        "name", List.of("orders"),
                        "source.url", List.of("postgresql://db1/app"),
                        "source.publications", List.of("p1", "p2"),
                        "source.password_file", List.of("/run/secret"),
                        "target.url", List.of("host=db2 dbname=app"),
                        "until", List.of("0/16B3748"),
                        "synchronous_commit", List.of("on"),
                        "group_rows", List.of("1000")),
                parse("""
                        # a comment
                        name: orders
                        source:
                          url: postgresql://${HOST}/app
                          publications: [p1, p2]
                          password_file: /run/secret
                        target:
                          url: "host=db2 dbname=app"
                        until: 0/16B3748
                        synchronous_commit: on
                        group_rows: 1000
                        """));
    }

    @Test
    void flatKeysMeanTheSameAsNestedOnes() {
        assertEquals(
                Map.of("source.url", List.of("a"), "source.publications", List.of("p"), "source.slot", List.of("s")),
                parse("source: a\npublication: p\nslot: s\n"));
    }

    @Test
    void variablesAreReplacedOnceAndAsTheyAre() {
        assertEquals(
                Map.of("source.url", List.of("a: '$\\1' #x/${HOST}/$HOST")),
                parse("source: {url: '${ODD}/$${HOST}/$HOST'}"));
    }

    @Test
    void anEmptyFileSetsNothing() {
        assertEquals(Map.of(), parse(""));
        assertEquals(Map.of(), parse("# nothing\n"));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            nmae: x                          | job.yml, line 1: unknown key nmae; did you mean name?
            name: x#slot-wait: 5s            | job.yml, line 2: unknown key slot-wait; did you mean slot_wait?
            source:#  uri: x                 | job.yml, line 2: unknown key source.uri; did you mean source.url?
            target:#  slot: x                | job.yml, line 2: unknown key target.slot; did you mean target.url?
            name: x#name: y                  | job.yml, line 2: name was already set in job.yml, line 1
            slot: x#source: {slot: y}        | job.yml, line 2: source.slot was already set in job.yml, line 1
            name:                            | job.yml, line 1: name has no value
            name: {a: b}                     | job.yml, line 1: name needs a plain value
            ##source: ${NONE}                | job.yml, line 3: the environment has no variable NONE
            - name                           | job.yml, line 1: the file needs keys with values
            name: x#---#name: y              | job.yml has more than one YAML document
            """)
    void mistakesNameTheirLine(String lines, String message) {
        assertEquals(message, messageOf(lines.replace('#', '\n')));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "source:\n  url: 'postgresql://u:s3cr3t@h/db",
                "source:\n\turl: s3cr3t",
                "source:\n  url: *s3cr3t",
                "source:\n  url: s3cr3t: x",
                "source: [s3cr3t",
                "source:\n  url: %s3cr3t",
                "s3cr3t !@: x"
            })
    void whatIsNoYamlIsNotRepeated(String text) {
        UsageException failure = assertThrows(UsageException.class, () -> parse(text));
        assertFalse((failure.getMessage() + failure.hint()).contains("s3cr3t"), failure.getMessage());
    }

    private static String messageOf(String text) {
        return String.valueOf(
                assertThrows(UsageException.class, () -> parse(text)).getMessage());
    }

    private static Map<String, List<String>> parse(String text) {
        Map<String, List<String>> values = new TreeMap<>();
        ConfigFile.parse(text, "job.yml", VARIABLES).forEach((key, entry) -> values.put(key, entry.values()));
        return values;
    }
}
