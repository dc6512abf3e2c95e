package dev.pgapply.apply.target.postgres;

import dev.pgapply.schema.Column;
import dev.pgapply.schema.TableSchema;
import dev.pgapply.schema.TypeReference;
import dev.pgapply.schema.postgres.Quoting;
import java.util.ArrayList;
import java.util.List;

/// The SQL that changes many rows of one table at once. Pure text.
///
/// Every statement but COPY checks itself: if it does not meet exactly as many rows as its last parameter says,
/// it fails with `division_by_zero`, and with it everything behind it in the round, COMMIT included.
final class SetStatements {

    /// The SQLSTATE with which a statement says that it has met another number of rows.
    static final String WRONG_COUNT = "22012";

    private static final int INT8_OID = 20;
    private static final long BOX_OID = 603;

    private final TableSchema table;
    private final String reference;

    SetStatements(TableSchema table) {
        this.table = table;
        this.reference = RowStatements.reference(table);
    }

    String copy(List<Column> columns, boolean binary) {
        return "COPY " + Quoting.table(table.name()) + " ("
                + String.join(
                        ", ",
                        columns.stream()
                                .map(column -> Quoting.identifier(column.name()))
                                .toList())
                + ") FROM STDIN" + (binary ? " (FORMAT binary)" : "");
    }

    /// Parameters: an array for each column of `set`, then of `key`, then the number of rows.
    String update(List<Column> set, List<Column> key) {
        List<String> assignments = new ArrayList<>();
        for (int i = 0; i < set.size(); i++) {
            assignments.add(Quoting.identifier(set.get(i).name()) + " = x.v" + (i + 1));
        }
        List<Column> all = new ArrayList<>(set);
        all.addAll(key);
        return checked(
                "UPDATE " + reference + " AS t SET " + String.join(", ", assignments) + " FROM " + arrays(all)
                        + " WHERE " + joined(key, set.size()) + " RETURNING 1",
                all.size() + 1);
    }

    /// Parameters: an array for each key column, then the number of rows.
    String delete(List<Column> key) {
        return checked(
                "DELETE FROM " + reference + " AS t USING " + arrays(key) + " WHERE " + joined(key, 0) + " RETURNING 1",
                key.size() + 1);
    }

    /// Counts the rows that are there. Parameters as of [#delete].
    String probe(List<Column> key) {
        return checked(
                "SELECT 1 FROM " + reference + " AS t, " + arrays(key) + " WHERE " + joined(key, 0), key.size() + 1);
    }

    /// The same statement for one row, with the number of rows as its last parameter.
    ///
    /// @param returning makes the statement answer each row that it meets
    static RowStatements.Statement checked(RowStatements.Statement single, String returning) {
        List<Integer> types = new ArrayList<>(single.parameterTypes());
        types.add(INT8_OID);
        return new RowStatements.Statement(checked(single.sql() + returning, types.size()), types);
    }

    private static String checked(String statement, int countParameter) {
        return "WITH met AS (" + statement + ") SELECT 1 / CASE WHEN pg_catalog.count(*) = $" + countParameter
                + "::pg_catalog.int8 THEN 1 ELSE 0 END FROM met";
    }

    private static String arrays(List<Column> columns) {
        List<String> calls = new ArrayList<>();
        List<String> names = new ArrayList<>();
        for (int i = 0; i < columns.size(); i++) {
            calls.add("pg_catalog.unnest($" + (i + 1) + "::"
                    + Quoting.table(columns.get(i).type().name()) + "[])");
            names.add("v" + (i + 1));
        }
        return "ROWS FROM (" + String.join(", ", calls) + ") AS x (" + String.join(", ", names) + ")";
    }

    private static String joined(List<Column> key, int before) {
        List<String> conditions = new ArrayList<>();
        for (int i = 0; i < key.size(); i++) {
            Column column = key.get(i);
            conditions.add(Equality.condition(
                    column.type(), "t." + Quoting.identifier(column.name()), "x.v" + (before + i + 1)));
        }
        return String.join(" AND ", conditions);
    }

    /// Whether values of the type can stand in an array: `unnest` takes arrays of arrays apart, domains have
    /// arrays from version 11 on only, and in text a foreign type may have another delimiter than the comma
    /// (among PostgreSQL's own `box` has).
    static boolean fitsArray(TypeReference type) {
        return switch (type.kind()) {
            case BASE -> !type.userDefined() && type.oid() != BOX_OID;
            case ENUM, RANGE, MULTIRANGE -> true;
            case ARRAY, DOMAIN, COMPOSITE, PSEUDO -> false;
        };
    }
}
