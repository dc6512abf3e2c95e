package dev.pgapply.apply.source;

import dev.pgapply.apply.ApplyException;
import dev.pgapply.apply.ApplyException.ChangeRejected;
import dev.pgapply.apply.ApplyException.ProtocolViolation;
import dev.pgapply.apply.ApplyException.SetupException;
import dev.pgapply.apply.ApplyException.SourceLost;
import dev.pgapply.apply.ErrorCode;
import dev.pgapply.decoder.TableName;
import dev.pgapply.schema.SchemaException;
import dev.pgapply.schema.postgres.MissingPrivilege;
import dev.pgapply.schema.postgres.PostgresEndpoint;
import java.sql.SQLException;
import java.util.Collection;
import java.util.List;
import org.postgresql.util.PSQLException;

/// What an SQLSTATE of the source means: who must act. The one place where it is decided.
///
/// @see <a href="https://www.postgresql.org/docs/current/errcodes-appendix.html">PostgreSQL error codes</a>
public final class SourceErrors {

    private final PostgresEndpoint source;
    private final String slot;

    /// @param slot the slot's name
    public SourceErrors(PostgresEndpoint source, String slot) {
        this.source = source;
        this.slot = slot;
    }

    /// The meaning of an error of a connection attempt or a catalog look-up.
    public ApplyException translate(SchemaException e) {
        return switch (e) {
            case SchemaException.ConnectionFailed failed ->
                new SourceLost(
                        switch (failed.kind()) {
                            case REFUSED -> ErrorCode.SOURCE_REFUSED;
                            case UNREACHABLE, LOST -> ErrorCode.SOURCE_LOST;
                        },
                        "source " + source + ": " + failed.getMessage(),
                        failed.hint(),
                        failed);
            case SchemaException other ->
                new SetupException(
                        ErrorCode.SETUP, "source " + source + ": " + other.getMessage(), other.hint(), other);
        };
    }

    public ApplyException translate(String doing, SQLException e) {
        return translate(doing, List.of(), e);
    }

    /// The meaning of an error of a statement that named these tables.
    public ApplyException translate(String doing, Collection<TableName> tables, SQLException e) {
        String state = e.getSQLState() == null ? "" : e.getSQLState();
        String server = primary(e);
        String what = "source " + source + ": " + doing + ": " + server
                + (state.isEmpty() ? "" : " (SQLSTATE " + state + ")");
        return switch (state) {
            case "28P01", "28000", "3D000" -> new SourceLost(ErrorCode.SOURCE_REFUSED, what, "", e);
            case "55006" ->
                new SourceLost(
                        ErrorCode.SLOT_ACTIVE,
                        what,
                        "Another process reads slot " + slot + ": stop it, or wait longer with --slot-wait.",
                        e);
            case "53400" ->
                new SetupException(
                        ErrorCode.SETUP,
                        what,
                        "On the source: ALTER SYSTEM SET max_replication_slots = …; and restart it, or drop an unused slot:"
                                + " SELECT pg_drop_replication_slot('…');",
                        e);
            case "42704", "55000" -> missingOrUnusable(what, server, e);
            case "42501" ->
                new SetupException(
                        ErrorCode.SETUP,
                        what,
                        "On the source: " + MissingPrivilege.grant(server, "SELECT", source.user(), tables),
                        e);
            case "22P05", "22021" ->
                new ChangeRejected(
                        what, "A value cannot be represented in UTF8; correct it on the source.", null, null, e);
            case "54000", "XX000" -> tooLarge(what, server, e);
            default ->
                switch (state.length() == 5 ? state.substring(0, 2) : "") {
                    // What a server does not support (0A) it will not support at the next attempt either.
                    case "0A", "22", "23", "42" -> new SetupException(ErrorCode.SETUP, what, "", e);
                    default -> new SourceLost(ErrorCode.SOURCE_LOST, what, "", e);
                };
        };
    }

    private ApplyException missingOrUnusable(String what, String server, SQLException e) {
        if (server.contains("wal_level")) {
            return new SetupException(
                    ErrorCode.SETUP, what, "On the source: ALTER SYSTEM SET wal_level = logical; and restart it.", e);
        }
        if (server.contains("replication slot")) {
            return new SetupException(
                    ErrorCode.SLOT_LOST,
                    what,
                    "Changes are lost between this subscription's progress and now. Copy anew: drop the subscription's"
                            + " rows in schema pgapply on the target, empty its tables, and start the run again.",
                    e);
        }
        if (server.contains("publication")) {
            return new SetupException(ErrorCode.SETUP, what, "On the source: CREATE PUBLICATION … ;", e);
        }
        return new SourceLost(ErrorCode.SOURCE_LOST, what, "", e);
    }

    private static ApplyException tooLarge(String what, String server, SQLException e) {
        if (server.contains("invalid memory alloc request size")) {
            return new ChangeRejected(
                    what,
                    "A value is too large for the text format; --binary on can carry up to 1 GB (source 14 or newer).",
                    null,
                    null,
                    e);
        }
        return new SourceLost(ErrorCode.SOURCE_LOST, what, "", e);
    }

    ApplyException streamEnded() {
        return new SourceLost(
                ErrorCode.SOURCE_LOST, "source " + source + ": the server ended the replication stream", "", null);
    }

    ApplyException violation(String what, byte[] message) {
        return new ProtocolViolation(
                "source " + source + ": " + what + " (first byte "
                        + (message.length == 0 ? "none" : Integer.toString(message[0] & 0xff)) + ", " + message.length
                        + " bytes)",
                null,
                null);
    }

    private static String primary(SQLException e) {
        if (e instanceof PSQLException server
                && server.getServerErrorMessage() != null
                && server.getServerErrorMessage().getMessage() != null) {
            return server.getServerErrorMessage().getMessage();
        }
        return String.valueOf(e.getMessage());
    }
}
