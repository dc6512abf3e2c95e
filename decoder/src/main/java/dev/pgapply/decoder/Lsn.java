package dev.pgapply.decoder;

import java.util.HexFormat;
import java.util.Locale;

/// A position in the source's write-ahead log: 64 bits, unsigned, printed as PostgreSQL prints them
/// (`16/B374D848`).
///
/// `0/0` ([#INVALID]) is what the protocol sends where a position is not known; it is smaller than every real
/// one.
///
/// @see <a href="https://www.postgresql.org/docs/current/datatype-pg-lsn.html">pg_lsn</a>
public record Lsn(long value) implements Comparable<Lsn> {

    /// `0/0`, PostgreSQL's `InvalidXLogRecPtr`.
    public static final Lsn INVALID = new Lsn(0);

    /// Reads `X/Y`, both halves hexadecimal with one to eight digits.
    ///
    /// @throws IllegalArgumentException if the text is anything else
    public static Lsn parse(String text) {
        int slash = text.indexOf('/');
        if (slash < 1 || slash > 8 || text.length() - slash < 2 || text.length() - slash > 9) {
            throw new IllegalArgumentException("not an LSN: " + text);
        }
        try {
            long high = HexFormat.fromHexDigitsToLong(text, 0, slash);
            long low = HexFormat.fromHexDigitsToLong(text, slash + 1, text.length());
            return new Lsn(high << 32 | low);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("not an LSN: " + text, e);
        }
    }

    /// True for every position but `0/0`.
    public boolean isValid() {
        return value != 0;
    }

    /// Unsigned comparison: the order of the log.
    public boolean isAfter(Lsn other) {
        return Long.compareUnsigned(value, other.value) > 0;
    }

    /// Unsigned comparison: the order of the log.
    public boolean isBefore(Lsn other) {
        return Long.compareUnsigned(value, other.value) < 0;
    }

    /// The later of the two.
    public Lsn max(Lsn other) {
        return isBefore(other) ? other : this;
    }

    /// The earlier of the two.
    public Lsn min(Lsn other) {
        return isAfter(other) ? other : this;
    }

    /// How many bytes of log lie between an earlier position and this one; negative where the other is later.
    public long bytesSince(Lsn earlier) {
        return value - earlier.value;
    }

    @Override
    public int compareTo(Lsn other) {
        return Long.compareUnsigned(value, other.value);
    }

    @Override
    public String toString() {
        return Long.toHexString(value >>> 32).toUpperCase(Locale.ROOT)
                + "/"
                + Long.toHexString(value & 0xFFFF_FFFFL).toUpperCase(Locale.ROOT);
    }
}
