package dev.pgapply.cli.settings;

/// A mistake in flags, environment or file: nothing was connected to or changed yet. Neither text holds a
/// secret.
public final class UsageException extends RuntimeException {

    private final String hint;

    public UsageException(String message) {
        this(message, "");
    }

    public UsageException(String message, String hint) {
        super(message);
        this.hint = hint;
    }

    /// What mends it; may be empty.
    public String hint() {
        return hint;
    }
}
