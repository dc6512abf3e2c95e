package dev.pgapply.schema.postgres;

import dev.pgapply.decoder.TableName;
import java.util.Collection;
import java.util.stream.Collectors;

/// How names and constants are written into SQL for PostgreSQL. The only place that does it.
public final class Quoting {

    private Quoting() {}

    /// A name exactly as the catalog spells it, always in double quotes.
    public static String identifier(String name) {
        return '"' + withoutNul(name).replace("\"", "\"\"") + '"';
    }

    /// Schema and name, both quoted.
    public static String table(TableName name) {
        return identifier(name.schema()) + "." + identifier(name.name());
    }

    /// Several names, quoted and separated by commas; nothing for none.
    public static String identifiers(Collection<String> names) {
        return names.stream().map(Quoting::identifier).collect(Collectors.joining(", "));
    }

    /// A string constant that means the same whatever `standard_conforming_strings` is, for commands that take
    /// no parameters (replication commands, DDL).
    public static String literal(String value) {
        String quoted = withoutNul(value).replace("'", "''");
        return value.indexOf('\\') < 0 ? "'" + quoted + "'" : "E'" + quoted.replace("\\", "\\\\") + "'";
    }

    private static String withoutNul(String text) {
        if (text.indexOf('\0') >= 0) {
            throw new IllegalArgumentException("PostgreSQL knows no text with a zero character");
        }
        return text;
    }
}
