package dev.pgapply.conflict;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Arrays;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

final class ConflictTypeTest {

    @Test
    void typesHaveTheServersNames() {
        Set<String> labels =
                Arrays.stream(ConflictType.values()).map(ConflictType::label).collect(Collectors.toSet());

        assertEquals(
                Set.of(
                        "insert_exists",
                        "update_origin_differs",
                        "update_exists",
                        "update_deleted",
                        "update_missing",
                        "delete_origin_differs",
                        "delete_missing",
                        "multiple_unique_conflicts"),
                labels);
    }
}
