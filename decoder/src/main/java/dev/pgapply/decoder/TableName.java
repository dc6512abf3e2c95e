package dev.pgapply.decoder;

/// A table's schema and name, exactly as the catalog spells them: nothing folded, nothing quoted.
///
/// An empty schema in a relation message means `pg_catalog`; the decoder has replaced it before a name is made.
public record TableName(String schema, String name) implements Comparable<TableName> {

    @Override
    public int compareTo(TableName other) {
        int bySchema = schema.compareTo(other.schema);
        return bySchema != 0 ? bySchema : name.compareTo(other.name);
    }

    /// For people: `schema.name` without quotes. Never part of an SQL statement.
    @Override
    public String toString() {
        return schema + "." + name;
    }
}
