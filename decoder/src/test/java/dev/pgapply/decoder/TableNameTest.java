package dev.pgapply.decoder;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class TableNameTest {

    @Test
    void nothingIsFolded() {
        assertNotEquals(new TableName("public", "t"), new TableName("public", "T"));
    }

    @Test
    void orderIsBySchemaThenName() {
        TableName first = new TableName("a", "z");
        TableName second = new TableName("b", "a");
        TableName third = new TableName("b", "b");
        assertEquals(
                List.of(first, second, third),
                Stream.of(third, first, second).sorted().toList());
    }

    @Test
    void printsSchemaAndName() {
        assertEquals("public.t", new TableName("public", "t").toString());
    }
}
