package dev.pgapply.cli.connection;

import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/// What the process was started with, as far as connections depend on it.
///
/// @param variables the environment
/// @param home where `.pgpass`, `.pg_service.conf` and `.postgresql` are looked for
/// @param user the operating system's name of the user, which `libpq` takes as the role where none is given
public record ProcessEnvironment(Map<String, String> variables, Path home, String user) {

    public ProcessEnvironment {
        variables = Map.copyOf(variables);
    }

    /// The environment of this JVM.
    public static ProcessEnvironment ofThisProcess() {
        return new ProcessEnvironment(
                System.getenv(), Path.of(System.getProperty("user.home")), System.getProperty("user.name"));
    }

    /// A variable's value; an empty one counts as not set.
    public Optional<String> variable(String name) {
        return Optional.ofNullable(variables.get(name)).filter(value -> !value.isEmpty());
    }

    /// Without values: the environment may hold a password.
    @Override
    public String toString() {
        return "ProcessEnvironment[" + variables.size() + " variables, home " + home + ", user " + user + "]";
    }
}
