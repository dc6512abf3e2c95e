package dev.pgapply.apply.target.postgres;

import dev.pgapply.apply.ApplyException;
import dev.pgapply.apply.ApplyException.ChangeRejected;
import dev.pgapply.apply.ApplyException.ConflictStop;
import dev.pgapply.apply.ApplyException.SetupException;
import dev.pgapply.apply.ApplyException.TargetLost;
import dev.pgapply.apply.ErrorCode;
import dev.pgapply.decoder.Lsn;
import dev.pgapply.decoder.TableName;
import dev.pgapply.schema.SchemaException;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;

/// What an SQLSTATE of the target means: who must act. The one place where it is decided.
///
/// @see <a href="https://www.postgresql.org/docs/current/errcodes-appendix.html">PostgreSQL error codes</a>
public final class TargetErrors {

    /// Which change of which transaction was being applied.
    ///
    /// @param keyColumns the columns that identify the row, without their values
    public record Place(
            @Nullable TableName table, List<String> keyColumns, int xid, Lsn commitLsn, Instant commitTime) {}

    private final String target;

    /// @param target the target as people know it, without a secret
    public TargetErrors(String target) {
        this.target = target;
    }

    /// The meaning of an error outside of any change.
    public ApplyException translate(String doing, SQLException e) {
        return translate(doing, e, null);
    }

    /// The meaning of an error of a connection attempt or a catalog look-up.
    public ApplyException translate(SchemaException e) {
        return switch (e) {
            case SchemaException.ConnectionFailed failed ->
                new TargetLost(
                        switch (failed.kind()) {
                            case REFUSED -> ErrorCode.TARGET_REFUSED;
                            case UNREACHABLE, LOST -> ErrorCode.TARGET_LOST;
                        },
                        "target " + target + ": " + failed.getMessage(),
                        failed.hint(),
                        failed);
            case SchemaException other ->
                new SetupException(
                        ErrorCode.SETUP, "target " + target + ": " + other.getMessage(), other.hint(), other);
        };
    }

    ApplyException translate(String doing, SQLException e, @Nullable Place place) {
        String state = e.getSQLState() == null ? "" : e.getSQLState();
        String what = message(doing, e, state, place);
        TableName table = place == null ? null : place.table();
        Lsn lsn = place == null ? null : place.commitLsn();
        String stateClass = state.length() == 5 ? state.substring(0, 2) : "";
        return switch (state) {
            case "23505" -> new ConflictStop(what, conflictHint(e, place), table, lsn, e);
            case "53100" ->
                new TargetLost(
                        ErrorCode.TARGET_FULL, what, "Free disk space on the target; the run goes on by itself.", e);
            case "25006" ->
                new TargetLost(
                        ErrorCode.TARGET_FULL,
                        what,
                        "The target is read-only (a standby?): name the primary, or promote this one.",
                        e);
            case "42501" ->
                new SetupException(
                        ErrorCode.SETUP,
                        what,
                        "Grant the target's role what is missing; docs/privileges.md lists it.",
                        e);
            case "28P01", "28000", "3D000" -> new TargetLost(ErrorCode.TARGET_REFUSED, what, "", e);
            case "57014" -> new TargetLost(ErrorCode.TARGET_LOST, what, "", e);
            default ->
                switch (stateClass) {
                    case "08", "40", "53", "55", "57", "58", "" -> new TargetLost(ErrorCode.TARGET_LOST, what, "", e);
                    default -> new ChangeRejected(what, rejectedHint(state), table, lsn, e);
                };
        };
    }

    /// Whether the target's tables are not what they were when the statements were made.
    static boolean structureChanged(SQLException e) {
        String state = e.getSQLState();
        return state != null
                && switch (state) {
                    case "42703", "42P01", "42804", "428C9", "26000", "0A000" -> !isTruncateAgainstForeignKey(e);
                    default -> false;
                };
    }

    private static boolean isTruncateAgainstForeignKey(SQLException e) {
        return "0A000".equals(e.getSQLState()) && String.valueOf(e.getMessage()).contains("truncate");
    }

    private String message(String doing, SQLException e, String state, @Nullable Place place) {
        StringBuilder text =
                new StringBuilder("target ").append(target).append(": ").append(doing);
        if (place != null) {
            if (place.table() != null) {
                text.append(" on table ").append(place.table());
            }
            if (!place.keyColumns().isEmpty()) {
                text.append(" (identified by ")
                        .append(String.join(", ", place.keyColumns()))
                        .append(")");
            }
        }
        text.append(": ").append(primary(e));
        String constraint = constraint(e);
        if (constraint != null && !text.toString().contains(constraint)) {
            text.append(", constraint ").append(constraint);
        }
        if (!state.isEmpty()) {
            text.append(" (SQLSTATE ").append(state).append(")");
        }
        if (place != null) {
            text.append("; source transaction ")
                    .append(Integer.toUnsignedString(place.xid()))
                    .append(" committed at ")
                    .append(place.commitLsn())
                    .append(", ")
                    .append(place.commitTime());
        }
        return text.toString();
    }

    /// The server's first line only: the detail quotes values of the row.
    private static String primary(SQLException e) {
        ServerErrorMessage server = server(e);
        if (server != null && server.getMessage() != null) {
            return withoutValue(server);
        }
        String message = e.getMessage();
        return message == null ? e.getClass().getSimpleName() : message;
    }

    /// Some first lines quote a value too: those of class 22, which name it behind a colon or between quotes.
    private static String withoutValue(ServerErrorMessage server) {
        String message = String.valueOf(server.getMessage());
        String state = server.getSQLState();
        if (state == null || !state.startsWith("22")) {
            return message;
        }
        String cut = message.replaceAll("\"(?:[^\"]|\"\")*\"", "\"…\"");
        int colon = cut.indexOf(": \"");
        return colon < 0 ? cut : cut.substring(0, colon);
    }

    private static @Nullable ServerErrorMessage server(SQLException e) {
        return e instanceof PSQLException server ? server.getServerErrorMessage() : null;
    }

    private static @Nullable String constraint(SQLException e) {
        ServerErrorMessage server = server(e);
        return server == null ? null : server.getConstraint();
    }

    private static String conflictHint(SQLException e, @Nullable Place place) {
        List<String> lines = new ArrayList<>();
        String constraint = constraint(e);
        lines.add("A row of the target has the same value"
                + (constraint == null ? "" : " in the unique constraint " + constraint)
                + ": remove or change it there, then start the run again; it goes on with this transaction.");
        if (place != null && place.table() != null) {
            lines.add("What came first is committed; nothing of this transaction is.");
        }
        return String.join("\n", lines);
    }

    private static String rejectedHint(String state) {
        return switch (state) {
            case "0A000" ->
                "A table that the source did not name refers to it by a foreign key. On the target: drop that foreign"
                        + " key, or empty the referring table first; then start the run again.";
            case "22P05", "22021" ->
                "The target's encoding cannot hold the value: change it on the source, or use a UTF8 target.";
            default -> "Change the target so that it takes the row, then start the run again.";
        };
    }
}
