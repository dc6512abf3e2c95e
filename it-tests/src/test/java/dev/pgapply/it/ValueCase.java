package dev.pgapply.it;

import java.util.List;

/// A table of difficult values. The same rows go into three tables of the same columns: one that is filled
/// before the copy, one that is filled while changes are streamed, and one without a key whose rows are found
/// by all their columns.
///
/// @param id the field case
/// @param builtIn all types are PostgreSQL's own and may travel in binary form
/// @param types statements to be run before the tables are made; may be empty
/// @param columns of the table, as in CREATE TABLE
/// @param rows what follows `INSERT INTO table`
/// @param changes statements on one of the tables, whose name is written `@`; all in one transaction
record ValueCase(
        String id,
        String name,
        boolean builtIn,
        List<String> types,
        String columns,
        String rows,
        List<String> changes) {

    /// One with PostgreSQL's own types and an `id`.
    static ValueCase builtIn(String id, String name, String columns, String rows, String changedColumns) {
        return new ValueCase(id, name, true, List.of(), columns, rows, shift(changedColumns));
    }

    /// One with types that need something to be made first, or that never travel in binary form.
    static ValueCase special(
            String id, String name, List<String> types, String columns, String rows, String changedColumns) {
        return new ValueCase(id, name, false, types, columns, rows, shift(changedColumns));
    }

    /// Every value travels again with a changed key, then most of them move to the row before, and one row
    /// goes.
    private static List<String> shift(String columns) {
        return List.of(
                "UPDATE @ SET id = id + 100",
                "UPDATE @ AS t SET (" + columns + ") = (SELECT " + columns + " FROM @ AS n WHERE n.id = t.id + 1)"
                        + " WHERE EXISTS (SELECT FROM @ AS n WHERE n.id = t.id + 1)",
                "DELETE FROM @ WHERE id = 101");
    }

    String copied() {
        return name + "_copied";
    }

    String streamed() {
        return name + "_streamed";
    }

    String keyless() {
        return name + "_keyless";
    }

    List<String> tables() {
        return List.of(copied(), streamed(), keyless());
    }

    List<String> createTables() {
        return List.of(
                "CREATE TABLE " + copied() + " (" + columns + ")",
                "CREATE TABLE " + streamed() + " (LIKE " + copied() + " INCLUDING ALL)",
                "CREATE TABLE " + keyless() + " (LIKE " + copied() + ")",
                "ALTER TABLE " + keyless() + " REPLICA IDENTITY FULL");
    }

    String insert(String table) {
        return "INSERT INTO " + table + " " + rows;
    }

    String[] changes(String table) {
        return changes.stream().map(sql -> sql.replace("@", table)).toArray(String[]::new);
    }
}
