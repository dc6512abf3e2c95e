package dev.pgapply.apply.target.postgres;

import dev.pgapply.apply.ApplyException;
import dev.pgapply.apply.ApplyException.ChangeRejected;
import dev.pgapply.apply.ApplyException.ConflictStop;
import dev.pgapply.apply.ApplyException.SetupException;
import dev.pgapply.apply.ApplyException.TargetLost;
import dev.pgapply.apply.ErrorCode;
import dev.pgapply.decoder.Lsn;
import dev.pgapply.decoder.TableName;
import dev.pgapply.decoder.transaction.TransactionEvent;
import dev.pgapply.schema.SchemaException;
import dev.pgapply.schema.postgres.MissingPrivilege;
import dev.pgapply.schema.postgres.PostgresEndpoint;
import dev.pgapply.schema.postgres.Quoting;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// What an SQLSTATE of the target means: who must act. The one place where it is decided.
///
/// @see <a href="https://www.postgresql.org/docs/current/errcodes-appendix.html">PostgreSQL error codes</a>
public final class TargetErrors {

    private static final String TABLE_PRIVILEGES = "SELECT, INSERT, UPDATE, DELETE, TRUNCATE";
    private static final String AGAIN = "then start the run again";

    /// What was being written.
    ///
    /// @param column the column whose value is refused, where that is known
    /// @param keyColumns the columns that identify the row, without their values
    /// @param transaction the source transaction; null in a copy
    record Place(
            @Nullable TableName table,
            @Nullable String column,
            List<String> keyColumns,
            TransactionEvent.@Nullable Begin transaction) {

        @Nullable
        Lsn commitLsn() {
            return transaction == null ? null : transaction.finalLsn();
        }
    }

    private final PostgresEndpoint target;

    public TargetErrors(PostgresEndpoint target) {
        this.target = target;
    }

    /// The meaning of an error outside of any change.
    public ApplyException translate(String doing, SQLException e) {
        return translate(doing, e, null);
    }

    /// The meaning of an error in the copy of a table.
    public ApplyException translate(String doing, TableName table, SQLException e) {
        String column = new ServerWords(e).copyColumn().orElse(null);
        return translate(doing, e, new Place(table, column, List.of(), null));
    }

    /// The meaning of an error of a connection attempt or a catalog look-up.
    public ApplyException translate(SchemaException e) {
        String what = "target " + target + ": " + e.getMessage();
        if (e instanceof SchemaException.ConnectionFailed failed) {
            ErrorCode code = switch (failed.kind()) {
                case REFUSED -> ErrorCode.TARGET_REFUSED;
                case UNREACHABLE, LOST -> ErrorCode.TARGET_LOST;
            };
            return new TargetLost(code, what, failed.hint(), failed);
        }
        return switch (e.sqlState().orElse("")) {
            case "53100" -> full(what, e);
            case "25006" -> readOnly(what, e);
            default -> new SetupException(ErrorCode.SETUP, what, setupHint(e), e);
        };
    }

    private static String setupHint(SchemaException e) {
        boolean role = String.valueOf(e.getMessage()).contains("session_replication_role");
        return e.hint() + (role ? "\nOr let the target's triggers and cascades fire: --allow-triggers" : "");
    }

    ApplyException translate(String doing, SQLException e, @Nullable Place place) {
        ServerWords words = new ServerWords(e);
        String state = words.state();
        String what = message(doing, words, place);
        TableName table = place == null ? null : place.table();
        Lsn lsn = place == null ? null : place.commitLsn();
        return switch (state) {
            case "23505" -> new ConflictStop(what, conflictHint(words, place), table, lsn, e);
            case "53100" -> full(what, e);
            case "25006" -> readOnly(what, e);
            case "42501" ->
                new SetupException(
                        ErrorCode.SETUP,
                        what,
                        "On the target: "
                                + MissingPrivilege.grant(
                                        words.primary(),
                                        TABLE_PRIVILEGES,
                                        target.user(),
                                        table == null ? List.of() : List.of(table)),
                        e);
            case "28P01", "28000", "3D000" -> new TargetLost(ErrorCode.TARGET_REFUSED, what, "", e);
            case "53400" ->
                new SetupException(
                        ErrorCode.SETUP,
                        what,
                        "On the target: ALTER SYSTEM SET max_replication_slots = …; (from 18 on"
                                + " max_active_replication_origins) and restart it, or drop an unused origin: SELECT"
                                + " pg_replication_origin_drop('…');",
                        e);
            case "57014" -> new TargetLost(ErrorCode.TARGET_LOST, what, "", e);
            default ->
                switch (state.length() == 5 ? state.substring(0, 2) : "") {
                    case "08", "40", "53", "55", "57", "58", "" -> new TargetLost(ErrorCode.TARGET_LOST, what, "", e);
                    default -> new ChangeRejected(what, rejectedHint(words, place), table, lsn, e);
                };
        };
    }

    private static TargetLost full(String what, Throwable cause) {
        return new TargetLost(
                ErrorCode.TARGET_FULL,
                what,
                "Free disk space on the target; a run without an end goes on by itself.",
                cause);
    }

    private static TargetLost readOnly(String what, Throwable cause) {
        return new TargetLost(
                ErrorCode.TARGET_FULL,
                what,
                "The target is read-only, perhaps a standby: name the primary in --target, or promote this one with"
                        + " SELECT pg_promote();",
                cause);
    }

    /// Whether the target's tables are not what they were when the statements were made.
    static boolean structureChanged(SQLException e) {
        String state = e.getSQLState();
        return state != null
                && switch (state) {
                    case "42703", "42P01", "42804", "428C9", "26000" -> true;
                    // A plan that no longer fits, or a TRUNCATE against a foreign key.
                    case "0A000" -> new ServerWords(e).referringTable().isEmpty();
                    default -> false;
                };
    }

    private String message(String doing, ServerWords words, @Nullable Place place) {
        StringBuilder text = new StringBuilder("target " + target + ": " + doing);
        if (place != null && place.table() != null) {
            text.append(" to table ").append(place.table());
            text.append(place.column() == null ? "" : ", column " + place.column());
        }
        if (place != null && !place.keyColumns().isEmpty()) {
            text.append(" (row identified by ")
                    .append(String.join(", ", place.keyColumns()))
                    .append(")");
        }
        text.append(": ").append(words.primary());
        words.constraint()
                .filter(constraint -> text.indexOf(constraint) < 0)
                .ifPresent(constraint -> text.append(", constraint ").append(constraint));
        if (!words.state().isEmpty()) {
            text.append(" (SQLSTATE ").append(words.state()).append(")");
        }
        TransactionEvent.Begin transaction = place == null ? null : place.transaction();
        if (transaction != null) {
            text.append("; source transaction ")
                    .append(Integer.toUnsignedString(transaction.xid()))
                    .append(" committed at ")
                    .append(transaction.finalLsn())
                    .append(", ")
                    .append(transaction.commitTime());
        }
        return text.toString();
    }

    private static String conflictHint(ServerWords words, @Nullable Place place) {
        String row = "A row of the target has the same value"
                + words.constraint()
                        .map(name -> " in the unique constraint " + name)
                        .orElse("")
                + words.keyColumns().map(columns -> " (" + columns + ")").orElse("")
                + ": remove or change it there, ";
        return place == null || place.transaction() == null
                ? row + "or choose --target-rows truncate; " + AGAIN + "."
                : row + AGAIN + "; it goes on with this transaction.\nWhat came first is committed; nothing of this"
                        + " transaction is.";
    }

    private static String rejectedHint(ServerWords words, @Nullable Place place) {
        if (words.isEncoding()) {
            return (place == null || place.transaction() == null ? "Change the value on the source, or use" : "Use")
                    + " a target database whose encoding has the character (CREATE DATABASE … ENCODING 'UTF8' TEMPLATE"
                    + " template0;), " + AGAIN + ".";
        }
        if (words.referringTable().isPresent()) {
            String referring = Quoting.identifier(words.referringTable().get());
            return "The source's TRUNCATE did not name table " + referring
                    + ", which refers to this one. On the target:"
                    + " ALTER TABLE " + referring + " DROP CONSTRAINT …; or TRUNCATE " + referring + ", …; " + AGAIN
                    + ".";
        }
        return "Change the target so that it takes the row, " + AGAIN + ".";
    }
}
