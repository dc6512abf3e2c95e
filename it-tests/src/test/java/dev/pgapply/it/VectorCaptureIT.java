package dev.pgapply.it;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pgapply.cli.embedded.PostgresServer;
import dev.pgapply.decoder.PgOutputDecoder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// The golden vectors of the decoder are what servers of today send: captured again, the messages say the same,
/// apart from positions, times, and the numbers of objects and transactions.
///
/// `-Dpgapply.vectors=capture` writes the vectors anew instead; the decoder's `VectorTest` then adds the texts.
class VectorCaptureIT {

    private static final Path FOLDER = Path.of("../decoder/src/test/resources/vectors");
    private static final boolean WRITE =
            System.getProperty("pgapply.vectors", "").equals("capture");

    private static final Pattern POSITION = Pattern.compile("\\b[0-9A-F]+/[0-9A-F]+\\b");
    private static final Pattern TIME = Pattern.compile("\\d{4}-\\d\\d-\\d\\dT[0-9:.]+Z");
    private static final Pattern NUMBER = Pattern.compile("xid=\\d+|\\b\\d{5,}\\b");

    static List<Integer> majors() {
        return PostgresServer.majors(PostgresServer.jars());
    }

    @ParameterizedTest
    @MethodSource("majors")
    void serverSendsWhatWasCaptured(int major) throws SQLException, IOException {
        try (PostgresServer server =
                PostgresServer.major(major).setting("autovacuum", "off").start()) {
            VectorCapture capture = new VectorCapture(server::connect, major);
            for (VectorScenario scenario : VectorScenario.readAll(FOLDER)) {
                if (scenario.fromMajor() <= major) {
                    Map<String, List<byte[]>> captured = capture.run(scenario);
                    for (VectorScenario.Decode decode : scenario.decodes()) {
                        if (decode.fromMajor() <= major) {
                            compareOrWrite(major, scenario, decode, captured.getOrDefault(decode.name(), List.of()));
                        }
                    }
                }
            }
        }
    }

    private static void compareOrWrite(
            int major, VectorScenario scenario, VectorScenario.Decode decode, List<byte[]> captured)
            throws IOException {
        Path file = FOLDER.resolve(scenario.name()).resolve(major + "-" + decode.name() + ".hex");
        if (WRITE) {
            Files.createDirectories(file.resolveSibling("."));
            Files.write(file, lines(major, scenario, decode, captured));
        } else {
            assertEquals(text(read(file)), text(captured), file.toString());
        }
    }

    private static List<String> lines(
            int major, VectorScenario scenario, VectorScenario.Decode decode, List<byte[]> captured) {
        List<String> lines = new ArrayList<>();
        lines.add("# PostgreSQL %d, %s.sql, %s"
                .formatted(
                        major,
                        scenario.name(),
                        decode.options().entrySet().stream()
                                .map(option -> option.getKey() + "=" + option.getValue())
                                .collect(Collectors.joining(" "))));
        captured.forEach(message -> lines.add(HexFormat.of().formatHex(message)));
        return lines;
    }

    private static List<byte[]> read(Path file) throws IOException {
        return Files.readAllLines(file).stream()
                .filter(line -> !line.startsWith("#") && !line.startsWith(" "))
                .map(HexFormat.of()::parseHex)
                .toList();
    }

    /// One line a message, numbers replaced by the order in which they appear.
    private static String text(List<byte[]> messages) {
        PgOutputDecoder decoder = new PgOutputDecoder();
        Map<String, String> numbers = new HashMap<>();
        return messages.stream()
                .map(message -> decoder.decode(message, 0, message.length).toString())
                .map(text -> TIME.matcher(text).replaceAll("TIME"))
                .map(text ->
                        POSITION.matcher(text).replaceAll(found -> found.group().equals("0/0") ? "0/0" : "LSN"))
                .map(text -> NUMBER.matcher(text)
                        .replaceAll(found -> numbers.computeIfAbsent(found.group(), number -> "#" + numbers.size())))
                .collect(Collectors.joining("\n"));
    }
}
