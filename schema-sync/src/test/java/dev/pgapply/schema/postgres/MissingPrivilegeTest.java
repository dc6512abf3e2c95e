package dev.pgapply.schema.postgres;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pgapply.decoder.TableName;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class MissingPrivilegeTest {

    private static final List<TableName> TABLES =
            List.of(new TableName("Sales", "Order Line"), new TableName("public", "t"));

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            permission denied for table t          | GRANT SELECT ON TABLE "public"."t" TO "reader";
            permission denied for table Order Line | GRANT SELECT ON TABLE "Sales"."Order Line" TO "reader";
            permission denied for table other      | GRANT SELECT ON TABLE "other" TO "reader";
            permission denied for schema Sales     | GRANT USAGE ON SCHEMA "Sales" TO "reader";
            permission denied for function f       | Grant the role reader what is missing.
            must be owner of table t               | Grant the role reader what is missing.
            """)
    void whatIsDeniedIsGranted(String message, String grant) {
        assertEquals(grant, MissingPrivilege.grant(message, "SELECT", "reader", TABLES));
    }
}
