package dev.pgapply.apply.target.postgres;

import dev.pgapply.schema.Column;
import dev.pgapply.schema.TableSchema;
import dev.pgapply.schema.TypeReference;
import dev.pgapply.schema.postgres.Quoting;
import java.util.ArrayList;
import java.util.List;

/// The SQL of single-row changes of one table. Pure text: values are parameters, numbered in the order in which
/// [Statement#parameterTypes] lists their types.
///
/// `ONLY` keeps an inheritance parent's statement away from its children; a partitioned table needs the tree.
final class RowStatements {

    /// One statement and the OIDs of its parameters' types on the target.
    record Statement(String sql, List<Integer> parameterTypes) {}

    /// A column to compare in a search, and whether the value looked for is NULL (then it takes no parameter).
    record Wanted(Column column, boolean isNull) {}

    private final TableSchema table;
    private final String reference;

    RowStatements(TableSchema table) {
        this.table = table;
        this.reference = reference(table);
    }

    /// How the table is named where inheritance children must stay out.
    static String reference(TableSchema table) {
        String name = Quoting.table(table.name());
        return table.kind() == TableSchema.Kind.PARTITIONED ? name : "ONLY " + name;
    }

    Statement insert(List<Column> columns) {
        String into = "INSERT INTO " + Quoting.table(table.name());
        if (columns.isEmpty()) {
            return new Statement(into + " DEFAULT VALUES", List.of());
        }
        Parameters parameters = new Parameters();
        List<String> values = columns.stream().map(parameters::add).toList();
        return parameters.statement(
                into + " (" + names(columns) + ") OVERRIDING SYSTEM VALUE VALUES (" + String.join(", ", values) + ")");
    }

    Statement update(List<Column> set, List<Wanted> wanted, boolean unique) {
        Parameters parameters = new Parameters();
        String assignments = String.join(
                ", ",
                set.stream()
                        .map(column -> Quoting.identifier(column.name()) + " = " + parameters.add(column))
                        .toList());
        return parameters.statement(located("UPDATE " + reference, " SET " + assignments, wanted, unique, parameters));
    }

    Statement delete(List<Wanted> wanted, boolean unique) {
        Parameters parameters = new Parameters();
        return parameters.statement(located("DELETE FROM " + reference, "", wanted, unique, parameters));
    }

    /// Replaces the row by one with other values, for columns that no UPDATE may set (`GENERATED ALWAYS AS
    /// IDENTITY`): deletes it and inserts it again, with the values that were not sent taken from what was
    /// there.
    ///
    /// @param changedOnly columns that must differ from their new value for anything to happen; may be empty
    Statement replace(List<Column> set, List<Wanted> wanted, List<Column> changedOnly) {
        Parameters parameters = new Parameters();
        List<String> values = new ArrayList<>();
        List<Column> stored =
                table.columns().stream().filter(c -> !c.isGenerated()).toList();
        for (Column column : stored) {
            values.add(set.contains(column) ? parameters.add(column) : "old." + Quoting.identifier(column.name()));
        }
        List<String> conditions = new ArrayList<>();
        conditions.add(where("t", wanted, parameters));
        if (!changedOnly.isEmpty()) {
            conditions.add(changedOnly.stream()
                    .map(c -> "t." + Quoting.identifier(c.name()) + " IS DISTINCT FROM " + parameters.again(c))
                    .collect(java.util.stream.Collectors.joining(" OR ", "(", ")")));
        }
        return parameters.statement("WITH old AS (DELETE FROM " + reference + " AS t WHERE "
                + String.join(" AND ", conditions) + " RETURNING *) INSERT INTO " + Quoting.table(table.name()) + " ("
                + names(stored) + ") OVERRIDING SYSTEM VALUE SELECT " + String.join(", ", values) + " FROM old");
    }

    /// Answers one row if a value that should be unique stands there twice.
    Statement duplicate(List<Column> key) {
        Parameters parameters = new Parameters();
        List<Wanted> wanted = key.stream().map(c -> new Wanted(c, false)).toList();
        return parameters.statement("SELECT 1 FROM " + reference + " AS t WHERE " + where("t", wanted, parameters)
                + " HAVING count(*) > 1");
    }

    /// Answers one row if any value that should be unique stands anywhere twice.
    Statement anyDuplicate(List<Column> key) {
        String notNull = String.join(
                " AND ",
                key.stream()
                        .map(c -> Quoting.identifier(c.name()) + " IS NOT NULL")
                        .toList());
        return new Statement(
                "SELECT 1 FROM " + reference + " WHERE " + notNull + " GROUP BY " + names(key)
                        + " HAVING count(*) > 1 LIMIT 1",
                List.of());
    }

    static String truncate(List<TableSchema> tables, boolean restartIdentity) {
        return "TRUNCATE "
                + String.join(
                        ", ", tables.stream().map(RowStatements::reference).toList())
                + (restartIdentity ? " RESTART IDENTITY" : " CONTINUE IDENTITY") + " RESTRICT";
    }

    private String located(String verb, String set, List<Wanted> wanted, boolean unique, Parameters parameters) {
        if (unique) {
            return verb + " AS t" + set + " WHERE " + where("t", wanted, parameters);
        }
        String where = wanted.isEmpty() ? "" : " WHERE " + where("r", wanted, parameters);
        String search =
                " FROM " + reference + " AS r" + where + identicalFirst(wanted, parameters) + " LIMIT 1 FOR UPDATE";
        if (table.kind() == TableSchema.Kind.PARTITIONED) {
            // A ctid is unique within a leaf only.
            return verb + " AS t" + set + " WHERE (t.tableoid, t.ctid) = (SELECT r.tableoid, r.ctid" + search + ")";
        }
        return verb + " AS t" + set + " WHERE t.ctid = (SELECT r.ctid" + search + ")";
    }

    private static String where(String alias, List<Wanted> wanted, Parameters parameters) {
        List<String> conditions = new ArrayList<>();
        for (Wanted one : wanted) {
            Column column = one.column();
            String name = alias + "." + Quoting.identifier(column.name());
            if (one.isNull()) {
                conditions.add(name + " IS NULL");
            } else {
                conditions.add(Equality.condition(column.type(), name, parameters.add(column)));
            }
        }
        return conditions.isEmpty() ? "true" : String.join(" AND ", conditions);
    }

    /// Rows can be equal and yet look different (`1.0` and `1.00`, `24:00:00` and `1 day`): the one that looks
    /// like the source's goes first.
    private static String identicalFirst(List<Wanted> wanted, Parameters parameters) {
        List<String> same = new ArrayList<>();
        for (Wanted one : wanted) {
            Column column = one.column();
            if (!one.isNull() && Equality.canLookDifferent(column.type())) {
                same.add("r." + Quoting.identifier(column.name()) + "::text OPERATOR(pg_catalog.=) ("
                        + parameters.again(column) + ")::text COLLATE pg_catalog.\"C\"");
            }
        }
        return same.isEmpty() ? "" : " ORDER BY (" + String.join(" AND ", same) + ") DESC";
    }

    private static String names(List<Column> columns) {
        return String.join(
                ", ", columns.stream().map(c -> Quoting.identifier(c.name())).toList());
    }

    /// Numbers parameters.
    private static final class Parameters {
        private final List<TypeReference> types = new ArrayList<>();
        private final List<String> columns = new ArrayList<>();

        String add(Column column) {
            types.add(column.type());
            columns.add(column.name());
            return "$" + types.size();
        }

        /// The parameter that already carries this column's last value.
        String again(Column column) {
            return "$" + (columns.lastIndexOf(column.name()) + 1);
        }

        Statement statement(String sql) {
            return new Statement(
                    sql, types.stream().map(type -> (int) type.oid()).toList());
        }
    }
}
