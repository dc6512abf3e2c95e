package dev.pgapply.cli.connection;

import dev.pgapply.cli.text.Nearest;
import java.util.Collection;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/// What a connection string says, before gaps are filled: the same for every form of string. Later values of a
/// parameter replace earlier ones, as in `libpq`.
final class Given {

    /// What may be repeated in an error; everything else could be a piece of a password.
    private static final Pattern PLAIN_NAME = Pattern.compile("[A-Za-z][A-Za-z_]{0,40}");

    private final Map<Keyword, String> parameters = new EnumMap<>(Keyword.class);
    private final Map<String, String> driverProperties = new LinkedHashMap<>();
    private int named;

    /// A parameter's value; an empty one counts as not given.
    Optional<String> get(Keyword keyword) {
        return Optional.ofNullable(parameters.get(keyword)).filter(value -> !value.isEmpty());
    }

    void put(Keyword keyword, String value) {
        parameters.put(keyword, value);
    }

    /// Takes the value only where the parameter is a gap.
    void fill(Keyword keyword, String value) {
        if (get(keyword).isEmpty()) {
            parameters.put(keyword, value);
        }
    }

    /// Fills gaps with all parameters of another.
    void fill(Given other) {
        other.parameters.forEach(this::fill);
    }

    void putDriverProperty(String name, String value) {
        driverProperties.put(name, value);
    }

    /// What was given by the driver's own names; it wins over what the parameters are translated to.
    Map<String, String> driverProperties() {
        return driverProperties;
    }

    /// @throws ConnectionException if `libpq` has no such parameter
    void putNamed(String name, String value) {
        named++;
        Keyword keyword = Keyword.of(name).orElseThrow(() -> unknown(name, Keyword.names()));
        parameters.put(keyword, value);
    }

    /// After a password even a name is not repeated: an unquoted `=` or `&` in the password makes a name of its
    /// rest.
    ConnectionException unknown(String name, Collection<String> known) {
        boolean repeatable =
                PLAIN_NAME.matcher(name).matches() && get(Keyword.PASSWORD).isEmpty();
        String which = repeatable ? "unknown parameter " + name : "parameter number " + named + " is unknown";
        return new ConnectionException(which + "; did you mean " + Nearest.to(name, known) + "?");
    }

    void count() {
        named++;
    }
}
