package dev.pgapply.cli.connection;

/// Reads `host=db1 dbname=app password='it''s'` with the quoting of `libpq`.
///
/// @see <a
/// href="https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING-KEYWORD-VALUE">Keyword/Value
/// Connection Strings</a>
final class KeywordStrings {

    private final String text;
    private int position;

    private KeywordStrings(String text) {
        this.text = text;
    }

    static Given parse(String text) {
        return new KeywordStrings(text).parse();
    }

    private Given parse() {
        Given given = new Given();
        skipBlanks();
        while (position < text.length()) {
            int start = position;
            while (position < text.length() && text.charAt(position) != '=' && !isBlank(text.charAt(position))) {
                position++;
            }
            String name = text.substring(start, position);
            skipBlanks();
            if (position == text.length() || text.charAt(position) != '=') {
                throw new ConnectionException(
                        "a key word without = and a value",
                        "Put a value with blanks between single quotes; write ' as \\' and \\ as \\\\ there.");
            }
            position++;
            skipBlanks();
            given.putNamed(name, value());
            skipBlanks();
        }
        return given;
    }

    private String value() {
        boolean quoted = position < text.length() && text.charAt(position) == '\'';
        if (quoted) {
            position++;
        }
        StringBuilder value = new StringBuilder();
        while (position < text.length()) {
            char c = text.charAt(position);
            if (quoted ? c == '\'' : isBlank(c)) {
                position++;
                return value.toString();
            }
            if (c == '\\' && position + 1 < text.length()) {
                position++;
                c = text.charAt(position);
            }
            value.append(c);
            position++;
        }
        if (quoted) {
            throw new ConnectionException("a quoted value is not closed", "Write ' inside a value as \\'.");
        }
        return value.toString();
    }

    private void skipBlanks() {
        while (position < text.length() && isBlank(text.charAt(position))) {
            position++;
        }
    }

    private static boolean isBlank(char c) {
        return c == ' ' || (c >= '\t' && c <= '\r');
    }
}
