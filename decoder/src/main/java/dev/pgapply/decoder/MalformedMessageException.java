package dev.pgapply.decoder;

/// A payload that is not a pgoutput message: truncated, with bytes left over, of an unknown kind, or with a
/// field that the protocol does not allow. The text says where and how large, and never holds payload.
public final class MalformedMessageException extends RuntimeException {

    private static final long serialVersionUID = 1;

    private final byte tag;
    private final int offset;
    private final int length;

    MalformedMessageException(String reason, byte tag, int offset, int length) {
        super("malformed message of kind %s: %s (at byte %d of %d)".formatted(kind(tag), reason, offset, length));
        this.tag = tag;
        this.offset = offset;
        this.length = length;
    }

    /// The first byte of the message; 0 for an empty one.
    public byte tag() {
        return tag;
    }

    /// The byte of the message, counted from its first, at which reading stopped.
    public int offset() {
        return offset;
    }

    /// The size of the message in bytes.
    public int length() {
        return length;
    }

    private static String kind(byte tag) {
        return tag > ' ' && tag < 0x7F ? "'" + (char) tag + "'" : "0x%02X".formatted(tag);
    }
}
