package dev.pgapply.apply;

import dev.pgapply.decoder.Lsn;
import dev.pgapply.decoder.TableName;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// What ends an attempt or a run, modelled by who must act. The message says what happened and where, the hint
/// what mends it (SQL, setting or flag); neither holds a cell value or a password.
public abstract sealed class ApplyException extends RuntimeException {

    private final ErrorCode code;
    private final String hint;
    private final @Nullable TableName table;
    private final @Nullable Lsn lsn;

    private ApplyException(
            ErrorCode code,
            String message,
            String hint,
            @Nullable TableName table,
            @Nullable Lsn lsn,
            @Nullable Throwable cause) {
        super(message, cause);
        this.code = code;
        this.hint = hint;
        this.table = table;
        this.lsn = lsn;
    }

    public ErrorCode code() {
        return code;
    }

    /// What mends it; may be empty, may have several lines.
    public String hint() {
        return hint;
    }

    public Optional<TableName> table() {
        return Optional.ofNullable(table);
    }

    /// The commit position of the source transaction concerned.
    public Optional<Lsn> lsn() {
        return Optional.ofNullable(lsn);
    }

    /// The source is away or busy: retried with back-off, with [ErrorCode#SOURCE_REFUSED] only some times.
    public static final class SourceLost extends ApplyException {
        public SourceLost(ErrorCode code, String message, String hint, @Nullable Throwable cause) {
            super(code, message, hint, null, null, cause);
        }
    }

    /// The target is away, full or busy: retried with back-off.
    public static final class TargetLost extends ApplyException {
        public TargetLost(ErrorCode code, String message, String hint, @Nullable Throwable cause) {
            super(code, message, hint, null, null, cause);
        }
    }

    /// An operator has to set something up; the hint has the SQL or the flag.
    public static final class SetupException extends ApplyException {
        public SetupException(ErrorCode code, String message, String hint, @Nullable Throwable cause) {
            super(code, message, hint, null, null, cause);
        }

        public SetupException(ErrorCode code, String message, String hint) {
            this(code, message, hint, null);
        }
    }

    /// A table of the target does not fit what the source sends.
    public static final class SchemaMismatch extends ApplyException {
        public SchemaMismatch(String message, String hint, @Nullable TableName table, @Nullable Lsn lsn) {
            super(ErrorCode.SCHEMA_MISMATCH, message, hint, table, lsn, null);
        }
    }

    /// A row of the target stands in the way of a change.
    public static final class ConflictStop extends ApplyException {
        public ConflictStop(
                String message, String hint, @Nullable TableName table, @Nullable Lsn lsn, @Nullable Throwable cause) {
            super(ErrorCode.CONFLICT, message, hint, table, lsn, cause);
        }
    }

    /// The target refuses a change: a value it cannot hold, a constraint, a trigger.
    public static final class ChangeRejected extends ApplyException {
        public ChangeRejected(
                String message, String hint, @Nullable TableName table, @Nullable Lsn lsn, @Nullable Throwable cause) {
            super(ErrorCode.CHANGE_REJECTED, message, hint, table, lsn, cause);
        }
    }

    /// The source sent what the protocol does not allow, or what this version does not know.
    public static final class ProtocolViolation extends ApplyException {
        public ProtocolViolation(String message, @Nullable Lsn lsn, @Nullable Throwable cause) {
            super(
                    ErrorCode.PROTOCOL_VIOLATION,
                    message,
                    "Please report this with the source's version.",
                    null,
                    lsn,
                    cause);
        }
    }
}
