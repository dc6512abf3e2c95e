package dev.pgapply.apply.target.postgres;

import dev.pgapply.schema.Column;
import dev.pgapply.schema.TableSchema;
import dev.pgapply.schema.TypeReference;
import dev.pgapply.schema.postgres.Quoting;
import java.util.ArrayList;
import java.util.List;

/// The SQL that changes many rows of one table at once. Pure text; values are parameters.
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
    private final boolean rows;

    /// @param rows the parameter is one array of rows instead of one array for each column
    SetStatements(TableSchema table, boolean rows) {
        this.table = table;
        this.reference = RowStatements.reference(table);
        this.rows = rows;
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

    /// Parameters: an array for each column of `set`, then of `key`, or one of rows; then the number of rows.
    String update(List<Column> set, List<Column> key) {
        List<String> assignments = new ArrayList<>();
        for (int i = 0; i < set.size(); i++) {
            assignments.add(Quoting.identifier(set.get(i).name()) + " = " + value(set.get(i), i));
        }
        List<Column> all = new ArrayList<>(set);
        all.addAll(key);
        return checked(
                "UPDATE " + reference + " AS t SET " + String.join(", ", assignments) + " FROM " + arrays(all)
                        + " WHERE " + joined(key, set.size()) + " RETURNING 1",
                arrayCount(all) + 1);
    }

    /// Parameters: an array for each key column, or one of rows; then the number of rows.
    String delete(List<Column> key) {
        return checked(
                "DELETE FROM " + reference + " AS t USING " + arrays(key) + " WHERE " + joined(key, 0) + " RETURNING 1",
                arrayCount(key) + 1);
    }

    /// Counts the rows that are there. Parameters as of [#delete].
    String probe(List<Column> key) {
        return checked(
                "SELECT 1 FROM " + reference + " AS t, " + arrays(key) + " WHERE " + joined(key, 0),
                arrayCount(key) + 1);
    }

    /// Parameters: the values of `set`, then of `key`, then the number 1.
    RowStatements.Statement updateOne(List<Column> set, List<Column> key) {
        List<RowStatements.Wanted> wanted = key.stream()
                .map(column -> new RowStatements.Wanted(column, false))
                .toList();
        RowStatements.Statement single = new RowStatements(table).update(set, wanted, true);
        List<Integer> types = new ArrayList<>(single.parameterTypes());
        types.add(INT8_OID);
        return new RowStatements.Statement(checked(single.sql() + " RETURNING 1", types.size()), types);
    }

    private static String checked(String statement, int countParameter) {
        return "WITH met AS (" + statement + ") SELECT 1 / CASE WHEN pg_catalog.count(*) = $" + countParameter
                + "::pg_catalog.int8 THEN 1 ELSE 0 END FROM met";
    }

    private int arrayCount(List<Column> columns) {
        return rows ? 1 : columns.size();
    }

    private String arrays(List<Column> columns) {
        if (rows) {
            return "pg_catalog.unnest($1::" + Quoting.table(table.name()) + "[]) AS x";
        }
        List<String> calls = new ArrayList<>();
        List<String> names = new ArrayList<>();
        for (int i = 0; i < columns.size(); i++) {
            calls.add("pg_catalog.unnest($" + (i + 1) + "::"
                    + Quoting.table(columns.get(i).type().name()) + "[])");
            names.add("v" + (i + 1));
        }
        return "ROWS FROM (" + String.join(", ", calls) + ") AS x (" + String.join(", ", names) + ")";
    }

    private String value(Column column, int position) {
        return rows ? "x." + Quoting.identifier(column.name()) : "x.v" + (position + 1);
    }

    private String joined(List<Column> key, int before) {
        List<String> conditions = new ArrayList<>();
        for (int i = 0; i < key.size(); i++) {
            Column column = key.get(i);
            conditions.add(Equality.condition(
                    column.type(), "t." + Quoting.identifier(column.name()), value(column, before + i)));
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
