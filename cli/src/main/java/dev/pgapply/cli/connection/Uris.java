package dev.pgapply.cli.connection;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/// Reads `postgresql://user@host:5432,host2/db?sslmode=require`.
///
/// @see <a href="https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING-URIS">Connection
/// URIs</a>
final class Uris {

    private static final String ENCODE_HINT =
            "In a URI, reserved characters of user and password are percent-encoded: @ is %40, / %2F, : %3A, ? %3F, # %23,"
                    + " % %25, blank %20.";

    private Uris() {}

    /// @param rest what follows `postgresql://`
    static Given parse(String rest) {
        if (rest.chars().anyMatch(Character::isWhitespace)) {
            throw new ConnectionException("a URI has no blanks", ENCODE_HINT);
        }
        Given given = new Given();
        String address = credentials(rest, given);
        int query = address.indexOf('?');
        String path = query < 0 ? address : address.substring(0, query);
        // Only a password with a raw @ or / leaves one here: what follows would be taken for a host or a database.
        if (path.indexOf('@') >= 0) {
            throw new ConnectionException("the URI has an @ where none can be", ENCODE_HINT);
        }
        int slash = path.indexOf('/');
        authority(slash < 0 ? path : path.substring(0, slash), given);
        if (slash >= 0 && slash + 1 < path.length()) {
            given.put(Keyword.DBNAME, decode(path.substring(slash + 1)));
        }
        if (query >= 0) {
            parameters(address.substring(query + 1), given);
        }
        return given;
    }

    private static String credentials(String rest, Given given) {
        int at = rest.indexOf('@');
        int slash = rest.indexOf('/');
        if (at < 0 || (slash >= 0 && slash < at)) {
            return rest;
        }
        String credentials = rest.substring(0, at);
        int colon = credentials.indexOf(':');
        String user = colon < 0 ? credentials : credentials.substring(0, colon);
        if (!user.isEmpty()) {
            given.put(Keyword.USER, decode(user));
        }
        if (colon >= 0 && colon + 1 < credentials.length()) {
            given.put(Keyword.PASSWORD, decode(credentials.substring(colon + 1)));
        }
        return rest.substring(at + 1);
    }

    /// Reads `host:port,[v6]:port,…` into two comma lists.
    static void authority(String authority, Given given) {
        List<String> hosts = new ArrayList<>();
        List<String> ports = new ArrayList<>();
        for (String address : authority.split(",", -1)) {
            int end = address.startsWith("[") ? address.indexOf(']') + 1 : address.indexOf(':');
            if (address.startsWith("[") && end == 0) {
                throw new ConnectionException("an IPv6 address lacks its closing bracket");
            }
            String host = end < 0 ? address : address.substring(0, end);
            String port = end < 0 ? "" : address.substring(end);
            if (!port.isEmpty() && port.charAt(0) != ':') {
                throw new ConnectionException("an IPv6 address is followed by something other than a port");
            }
            hosts.add(decode(host.startsWith("[") ? host.substring(1, host.length() - 1) : host));
            ports.add(port.isEmpty() ? "" : port.substring(1));
        }
        if (hosts.stream().anyMatch(host -> !host.isEmpty())) {
            given.put(Keyword.HOST, String.join(",", hosts));
        }
        if (ports.stream().anyMatch(port -> !port.isEmpty())) {
            given.put(Keyword.PORT, String.join(",", ports));
        }
    }

    private static void parameters(String query, Given given) {
        if (query.isEmpty()) {
            return;
        }
        for (String parameter : query.split("&", -1)) {
            int equals = parameter.indexOf('=');
            if (equals < 1 || parameter.indexOf('=', equals + 1) >= 0) {
                throw new ConnectionException(
                        "a parameter behind ? is not of the form name=value",
                        "Write = inside a value as %3D, & as %26.");
            }
            String name = decode(parameter.substring(0, equals));
            String value = decode(parameter.substring(equals + 1));
            if (name.equals("ssl") && value.equals("true")) {
                given.put(Keyword.SSLMODE, "require");
            } else {
                given.putNamed(name, value);
            }
        }
    }

    /// Percent-decoding to UTF-8; a plus sign stays one.
    ///
    /// @throws ConnectionException if a percent sign is not followed by two hexadecimal digits other than `00`
    static String decode(String text) {
        if (text.indexOf('%') < 0) {
            return text;
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        for (int i = 0; i < text.length(); i++) {
            if (text.charAt(i) == '%') {
                bytes.write(hexadecimal(text, i + 1));
                i += 2;
            } else {
                int character = text.codePointAt(i);
                bytes.writeBytes(Character.toString(character).getBytes(StandardCharsets.UTF_8));
                i += Character.charCount(character) - 1;
            }
        }
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes.toByteArray()))
                    .toString();
        } catch (CharacterCodingException e) {
            throw new ConnectionException("a percent-encoded part of the URI is not UTF-8", ENCODE_HINT);
        }
    }

    private static int hexadecimal(String text, int at) {
        int high = at + 1 < text.length() ? Character.digit(text.charAt(at), 16) : -1;
        int low = at + 1 < text.length() ? Character.digit(text.charAt(at + 1), 16) : -1;
        if (high < 0 || low < 0 || high + low == 0) {
            throw new ConnectionException("a % in the URI is not followed by two hexadecimal digits", ENCODE_HINT);
        }
        return high << 4 | low;
    }
}
