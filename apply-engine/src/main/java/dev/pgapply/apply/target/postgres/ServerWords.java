package dev.pgapply.apply.target.postgres;

import java.sql.SQLException;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;

/// What may be repeated of an error of the target's server: everything but values of rows. Those are in its
/// detail and in its context, of which only names and numbers are taken here, and in some first lines.
final class ServerWords {

    private static final Pattern KEY_COLUMNS = Pattern.compile("\\((.+?)\\)=\\(");
    private static final Pattern PARAMETER = Pattern.compile("portal parameter \\$(\\d+)");
    private static final Pattern COPY_COLUMN = Pattern.compile("^COPY .+?, line \\d+, column (.+?): ");
    private static final Pattern QUOTED = Pattern.compile("\"((?:[^\"]|\"\")*)\"");
    private static final Pattern BYTES = Pattern.compile("0x[0-9a-f]{2}(?: 0x[0-9a-f]{2})*");

    private final SQLException failure;
    private final @Nullable ServerErrorMessage server;

    ServerWords(SQLException failure) {
        this.failure = failure;
        this.server = failure instanceof PSQLException known ? known.getServerErrorMessage() : null;
    }

    /// Why a group could not be written as sets, in a few words and without values.
    static String reason(SQLException failure) {
        String state = new ServerWords(failure).state();
        return switch (state) {
            case SetStatements.WRONG_COUNT -> "another number of rows than expected";
            case "23505" -> "a unique violation";
            default -> "SQLSTATE " + state;
        };
    }

    /// The SQLSTATE, empty if nobody gave one.
    String state() {
        String state = failure.getSQLState();
        return state == null ? "" : state;
    }

    /// The first line.
    String primary() {
        if (server == null || server.getMessage() == null) {
            String message = failure.getMessage();
            return message == null ? failure.getClass().getSimpleName() : message;
        }
        return withoutValue(server.getMessage());
    }

    // Those of class 22 name a value between quotes or behind a colon. Of a character that cannot be converted they
    // name the bytes; what they quote are encodings then.
    private String withoutValue(String message) {
        if (isEncoding()) {
            return BYTES.matcher(message).replaceAll("…");
        }
        if (!state().startsWith("22")) {
            return message;
        }
        String cut = QUOTED.matcher(message).replaceAll("\"…\"");
        int colon = cut.indexOf(": \"");
        return colon < 0 ? cut : cut.substring(0, colon);
    }

    /// Whether a character cannot be converted.
    boolean isEncoding() {
        return state().equals("22P05") || state().equals("22021");
    }

    Optional<String> constraint() {
        return Optional.ofNullable(server).map(ServerErrorMessage::getConstraint);
    }

    /// The columns of a unique constraint that is violated: `id, "E-mail"`.
    Optional<String> keyColumns() {
        return state().equals("23505") ? first(KEY_COLUMNS, detail()) : Optional.empty();
    }

    /// The table whose foreign key is in the way of a TRUNCATE.
    Optional<String> referringTable() {
        return state().equals("0A000") ? first(QUOTED, detail()) : Optional.empty();
    }

    /// The number of the parameter whose value is refused, from 1 on (14 and newer).
    OptionalInt parameter() {
        Optional<String> number = first(PARAMETER, context());
        return number.isPresent() ? OptionalInt.of(Integer.parseInt(number.get())) : OptionalInt.empty();
    }

    /// The column whose value COPY refuses.
    Optional<String> copyColumn() {
        return first(COPY_COLUMN, context());
    }

    private String detail() {
        String detail = server == null ? null : server.getDetail();
        return detail == null ? "" : detail;
    }

    private String context() {
        String context = server == null ? null : server.getWhere();
        return context == null ? "" : context;
    }

    private static Optional<String> first(Pattern pattern, String text) {
        Matcher matcher = pattern.matcher(text);
        return matcher.find() ? Optional.of(matcher.group(1)) : Optional.empty();
    }
}
