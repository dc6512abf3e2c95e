package dev.pgapply.schema.postgres;

import dev.pgapply.decoder.TableName;
import java.util.Collection;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// The GRANT that a server's "permission denied" asks for.
public final class MissingPrivilege {

    private static final Pattern DENIED = Pattern.compile("permission denied for (table|schema) (.+)");

    private MissingPrivilege() {}

    /// One statement where the message says what it is about, else a sentence.
    ///
    /// @param message the server's primary message, which names a table without its schema
    /// @param onTables what the role needs on every table: `SELECT, INSERT`
    /// @param role the role that was refused
    /// @param tables those that the statement named
    public static String grant(String message, String onTables, String role, Collection<TableName> tables) {
        Matcher denied = DENIED.matcher(message);
        if (!denied.find()) {
            return "Grant the role " + role + " what is missing.";
        }
        String name = denied.group(2);
        String to = " TO " + Quoting.identifier(role) + ";";
        if (denied.group(1).equals("schema")) {
            return "GRANT USAGE ON SCHEMA " + Quoting.identifier(name) + to;
        }
        String table = tables.stream()
                .filter(known -> known.name().equals(name))
                .findFirst()
                .map(Quoting::table)
                .orElseGet(() -> Quoting.identifier(name));
        return "GRANT " + onTables + " ON TABLE " + table + to;
    }
}
