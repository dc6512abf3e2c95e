package dev.pgapply.cli.text;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NearestTest {

    private static final List<String> KNOWN =
            List.of("--source", "--target", "--slot", "--slot-wait", "--table-jobs", "--group-rows", "--group-bytes");

    @ParameterizedTest
    @CsvSource({
        "--sorce,--source",
        "--soruce,--source",
        "--slots,--slot",
        "--slot_wait,--slot-wait",
        "--TABLE-JOBS,--table-jobs",
        "--group-row,--group-rows",
        "--jobs,--slot"
    })
    void theWordWithFewestEditsIsMeant(String word, String meant) {
        assertEquals(meant, Nearest.to(word, KNOWN));
    }
}
