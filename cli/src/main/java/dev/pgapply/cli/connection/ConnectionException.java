package dev.pgapply.cli.connection;

/// A connection string, a service or a password file that cannot be used. Neither text repeats a value of the
/// string, since what looks like a host or a port there may be a piece of a password.
public final class ConnectionException extends RuntimeException {

    private final String hint;

    ConnectionException(String message) {
        this(message, "");
    }

    ConnectionException(String message, String hint) {
        super(message);
        this.hint = hint;
    }

    /// What mends it; may be empty.
    public String hint() {
        return hint;
    }
}
