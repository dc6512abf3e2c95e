package dev.pgapply.schema;

/// A column of a table.
///
/// @param attnum `pg_attribute.attnum`; dropped columns leave gaps
/// @param notNull no row has NULL in it (a constraint that is not validated yet does not count)
/// @param hasDefault a default, or the expression of a generated column
public record Column(
        int attnum,
        String name,
        TypeReference type,
        boolean notNull,
        boolean hasDefault,
        Identity identity,
        Generated generated) {

    /// `pg_attribute.attidentity`.
    public enum Identity {
        NONE,
        ALWAYS,
        BY_DEFAULT
    }

    /// `pg_attribute.attgenerated`.
    public enum Generated {
        NONE,
        STORED,
        VIRTUAL
    }

    public boolean isGenerated() {
        return generated != Generated.NONE;
    }
}
