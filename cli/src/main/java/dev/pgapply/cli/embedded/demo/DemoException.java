package dev.pgapply.cli.embedded.demo;

/// The demo cannot go on; the message is for the person who has started it.
public final class DemoException extends RuntimeException {

    DemoException(String message) {
        super(message);
    }

    DemoException(String message, Throwable cause) {
        super(message, cause);
    }
}
