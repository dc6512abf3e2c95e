package dev.pgapply.decoder.transaction;

/// A well-formed message that the state of the stream does not allow: a change outside of a transaction, a
/// relation that
/// was never described, a commit of something else than what was begun. The stream cannot be continued.
public final class UnexpectedMessageException extends RuntimeException {

    private static final long serialVersionUID = 1;

    UnexpectedMessageException(String message) {
        super(message);
    }

    static UnexpectedMessageException unknownRelation(int oid) {
        return new UnexpectedMessageException(
                "a change refers to relation %s, which was never described".formatted(Integer.toUnsignedString(oid)));
    }
}
