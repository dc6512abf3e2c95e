package dev.pgapply.schema;

import dev.pgapply.decoder.TableName;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// What can go wrong around connections, catalogs and structures. The message says what and where, the hint
/// what mends it (SQL or setting; may be empty); neither holds a cell value or a password.
public abstract sealed class SchemaException extends RuntimeException {

    private final String hint;
    private final @Nullable String sqlState;

    private SchemaException(String message, String hint, @Nullable String sqlState, @Nullable Throwable cause) {
        super(message, cause);
        this.hint = hint;
        this.sqlState = sqlState;
    }

    /// What mends it; may be empty, may have several lines.
    public String hint() {
        return hint;
    }

    /// The five characters a server or the driver gave, where one of them spoke.
    public Optional<String> sqlState() {
        return Optional.ofNullable(sqlState);
    }

    /// There is no connection, or it is gone.
    public static final class ConnectionFailed extends SchemaException {

        /// Why, by what helps.
        public enum Kind {
            /// Nobody answers at this address, or the server takes no more sessions now: waiting may help.
            UNREACHABLE,
            /// The server answered and said no: a wrong password, an unknown database or role, no `pg_hba.conf`
            /// line.
            REFUSED,
            /// An open connection broke, or its session was ended.
            LOST
        }

        private final Kind kind;

        public ConnectionFailed(
                Kind kind, String message, String hint, @Nullable String sqlState, @Nullable Throwable cause) {
            super(message, hint, sqlState, cause);
            this.kind = kind;
        }

        public Kind kind() {
            return kind;
        }
    }

    /// The role lacks a right; the hint grants it.
    public static final class NotPermitted extends SchemaException {
        public NotPermitted(String message, String hint, @Nullable String sqlState, @Nullable Throwable cause) {
            super(message, hint, sqlState, cause);
        }
    }

    /// The server is too old, or a setting does not hold: nothing that waiting mends.
    public static final class ServerUnsuitable extends SchemaException {
        public ServerUnsuitable(String message, String hint) {
            super(message, hint, null, null);
        }
    }

    /// A publication is missing, or does not say one clear thing about a table.
    public static final class PublicationUnusable extends SchemaException {
        public PublicationUnusable(String message, String hint) {
            super(message, hint, null, null);
        }
    }

    /// The target lacks what the source sends, or has it in a kind that takes no rows.
    public static final class StructureMismatch extends SchemaException {
        public StructureMismatch(String message, String hint) {
            super(message, hint, null, null);
        }
    }

    /// A relation message names columns that the target table does not have.
    public static final class ColumnsMissing extends SchemaException {

        private final TableName table;
        private final List<String> columns;

        public ColumnsMissing(TableName table, List<String> columns, String hint) {
            super(
                    "table " + table + " of the target lacks the column" + (columns.size() == 1 ? " " : "s ")
                            + String.join(", ", columns),
                    hint,
                    null,
                    null);
            this.table = table;
            this.columns = List.copyOf(columns);
        }

        public TableName table() {
            return table;
        }

        public List<String> columns() {
            return columns;
        }
    }

    /// A statement failed for another reason than those above.
    public static final class StatementFailed extends SchemaException {
        public StatementFailed(String message, String hint, @Nullable String sqlState, @Nullable Throwable cause) {
            super(message, hint, sqlState, cause);
        }
    }
}
