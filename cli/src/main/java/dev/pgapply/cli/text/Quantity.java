package dev.pgapply.cli.text;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Sizes and durations as `postgresql.conf` writes them, and counts with separators.
///
/// @see <a href="https://www.postgresql.org/docs/current/config-setting.html">Numeric parameters with unit</a>
public final class Quantity {

    private static final Pattern NUMBER_AND_UNIT = Pattern.compile("(\\d{1,18}(?:\\.\\d{1,9})?)\\s*([A-Za-z]*)");

    /// Each one 1024 times the one before.
    private static final List<String> BYTE_UNITS = List.of("B", "kB", "MB", "GB", "TB");

    private static final Map<String, Duration> DURATION_UNITS = Map.of(
            "us", Duration.ofNanos(1_000),
            "ms", Duration.ofMillis(1),
            "s", Duration.ofSeconds(1),
            "min", Duration.ofMinutes(1),
            "h", Duration.ofHours(1),
            "d", Duration.ofDays(1));

    private static final Duration A_MINUTE = Duration.ofMinutes(1);
    private static final Duration AN_HOUR = Duration.ofHours(1);

    private Quantity() {}

    /// `64MB`, `1.5GB`; the units are `B`, `kB`, `MB`, `GB` and `TB` with a factor of 1024, a bare number means
    /// bytes.
    ///
    /// @throws IllegalArgumentException if the text is anything else; the message says what is expected
    public static long parseBytes(String text) {
        Matcher matcher = NUMBER_AND_UNIT.matcher(text.strip());
        if (matcher.matches()) {
            int unit = matcher.group(2).isEmpty() ? 0 : BYTE_UNITS.indexOf(matcher.group(2));
            if (unit >= 0) {
                return scaled(matcher.group(1), 1L << (10 * unit));
            }
        }
        throw new IllegalArgumentException("expected a size such as 64MB (units B, kB, MB, GB, TB)");
    }

    /// `30s`, `10min`, `2h`; the units are `us`, `ms`, `s`, `min`, `h` and `d`, only zero may stand without
    /// one.
    ///
    /// @throws IllegalArgumentException if the text is anything else; the message says what is expected
    public static Duration parseDuration(String text) {
        Matcher matcher = NUMBER_AND_UNIT.matcher(text.strip());
        if (matcher.matches()) {
            Duration unit = DURATION_UNITS.get(matcher.group(2));
            if (unit != null) {
                return Duration.ofNanos(scaled(matcher.group(1), unit.toNanos()));
            }
        }
        if (text.strip().equals("0")) {
            return Duration.ZERO;
        }
        throw new IllegalArgumentException("expected a duration such as 30s or 10min (units us, ms, s, min, h, d)");
    }

    /// `17 B`, `1.4 kB`, `230 MB`.
    public static String ofBytes(long bytes) {
        int unit = 0;
        double value = bytes;
        while (value >= 1024 && unit < BYTE_UNITS.size() - 1) {
            value /= 1024;
            unit++;
        }
        String format = unit == 0 || value >= 100 ? "%,.0f %s" : "%.1f %s";
        return String.format(Locale.ROOT, format, value, BYTE_UNITS.get(unit));
    }

    /// `85 ms`, `3.2 s`, `4 min 05 s`, `2 h 07 min`; a negative duration reads as zero.
    public static String ofDuration(Duration duration) {
        if (duration.isNegative() || duration.isZero()) {
            return "0 s";
        }
        if (duration.compareTo(Duration.ofSeconds(1)) < 0) {
            return duration.toMillis() + " ms";
        }
        if (duration.compareTo(A_MINUTE) < 0) {
            return String.format(Locale.ROOT, "%.1f s", Math.floor(duration.toMillis() / 100.0) / 10);
        }
        if (duration.compareTo(AN_HOUR) < 0) {
            return String.format(Locale.ROOT, "%d min %02d s", duration.toMinutes(), duration.toSecondsPart());
        }
        return String.format(Locale.ROOT, "%,d h %02d min", duration.toHours(), duration.toMinutesPart());
    }

    /// `1,234,567`.
    public static String ofCount(long count) {
        return String.format(Locale.ROOT, "%,d", count);
    }

    /// A count and its noun: `1 table`, `2 tables`.
    public static String ofCount(long count, String noun) {
        return ofCount(count) + " " + noun + (count == 1 ? "" : "s");
    }

    private static long scaled(String number, long factor) {
        BigInteger value = new BigDecimal(number)
                .multiply(BigDecimal.valueOf(factor))
                .setScale(0, RoundingMode.HALF_UP)
                .toBigInteger();
        if (value.bitLength() >= Long.SIZE) {
            throw new IllegalArgumentException("the number is too large");
        }
        return value.longValue();
    }
}
