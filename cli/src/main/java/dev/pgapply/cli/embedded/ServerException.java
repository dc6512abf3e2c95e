package dev.pgapply.cli.embedded;

/// An embedded server cannot be unpacked, started, asked or stopped. The message says which and what mends it.
public final class ServerException extends RuntimeException {

    public ServerException(String message) {
        super(message);
    }

    public ServerException(String message, Throwable cause) {
        super(message, cause);
    }
}
