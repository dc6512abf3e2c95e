package dev.pgapply.cli.connection;

import dev.pgapply.cli.connection.Treatment.Ignored;
import dev.pgapply.cli.connection.Treatment.Mapped;
import dev.pgapply.cli.connection.Treatment.Own;
import dev.pgapply.cli.connection.Treatment.Passed;
import dev.pgapply.cli.connection.Treatment.Refused;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/// The connection parameters of `libpq`, with the environment variable of each.
///
/// @see <a href="https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-PARAMKEYWORDS">Parameter Key
/// Words</a>
enum Keyword {
    HOST("PGHOST", new Own()),
    HOSTADDR("PGHOSTADDR", new Own()),
    PORT("PGPORT", new Own()),
    DBNAME("PGDATABASE", new Own()),
    USER("PGUSER", new Own()),
    PASSWORD("PGPASSWORD", new Own()),
    PASSFILE("PGPASSFILE", new Own()),
    SERVICE("PGSERVICE", new Own()),
    SERVICEFILE("PGSERVICEFILE", new Own()),
    SSLMODE("PGSSLMODE", new Own()),
    SSLROOTCERT("PGSSLROOTCERT", new Own()),
    SSLCERT("PGSSLCERT", new Own()),
    SSLKEY("PGSSLKEY", new Own()),
    REQUIRESSL("PGREQUIRESSL", new Own()),
    CONNECT_TIMEOUT("PGCONNECT_TIMEOUT", new Own()),

    APPLICATION_NAME("PGAPPNAME", new Ignored()),
    FALLBACK_APPLICATION_NAME("", new Ignored()),
    CLIENT_ENCODING("PGCLIENTENCODING", new Ignored()),
    REPLICATION("", new Ignored()),
    SSLCOMPRESSION("PGSSLCOMPRESSION", new Ignored()),

    OPTIONS("PGOPTIONS", new Passed("options", List.of())),
    KRBSRVNAME("PGKRBSRVNAME", new Passed("kerberosServerName", List.of())),
    GSSLIB("PGGSSLIB", new Passed("gsslib", List.of("gssapi", "sspi"))),
    GSSENCMODE("PGGSSENCMODE", new Passed("gssEncMode", List.of("disable", "prefer", "require"))),
    CHANNEL_BINDING("PGCHANNELBINDING", new Passed("channelBinding", List.of("disable", "prefer", "require"))),
    REQUIRE_AUTH("PGREQUIREAUTH", new Passed("requireAuth", List.of())),
    SSLNEGOTIATION("PGSSLNEGOTIATION", new Passed("sslNegotiation", List.of("postgres", "direct"))),
    KEEPALIVES("", new Mapped("tcpKeepAlive", Map.of("0", "false", "1", "true"))),
    LOAD_BALANCE_HOSTS(
            "PGLOADBALANCEHOSTS", new Mapped("loadBalanceHosts", Map.of("disable", "false", "random", "true"))),
    TARGET_SESSION_ATTRS(
            "PGTARGETSESSIONATTRS",
            new Mapped(
                    "targetServerType",
                    Map.of(
                            "any", "any",
                            "read-write", "primary",
                            "primary", "primary",
                            "read-only", "secondary",
                            "standby", "secondary",
                            "prefer-standby", "preferSecondary"))),

    KEEPALIVES_IDLE("", new Refused("the operating system's TCP settings decide", List.of("0"))),
    KEEPALIVES_INTERVAL("", new Refused("the operating system's TCP settings decide", List.of("0"))),
    KEEPALIVES_COUNT("", new Refused("the operating system's TCP settings decide", List.of("0"))),
    TCP_USER_TIMEOUT("", new Refused("the operating system's TCP settings decide", List.of("0"))),
    SSLPASSWORD("", new Refused("use a key file without a passphrase", List.of())),
    SSLCERTMODE("PGSSLCERTMODE", new Refused("a client certificate is sent when asked for", List.of("allow"))),
    SSLCRL("PGSSLCRL", new Refused("revocation lists are not read", List.of())),
    SSLCRLDIR("PGSSLCRLDIR", new Refused("revocation lists are not read", List.of())),
    SSLSNI("PGSSLSNI", new Refused("the server's name is always sent", List.of("1"))),
    SSLKEYLOGFILE("", new Refused("session keys are not written to files", List.of())),
    SSL_MIN_PROTOCOL_VERSION(
            "PGSSLMINPROTOCOLVERSION",
            new Refused("Java's jdk.tls.client.protocols decides", List.of("TLSv1", "TLSv1.1", "TLSv1.2"))),
    SSL_MAX_PROTOCOL_VERSION(
            "PGSSLMAXPROTOCOLVERSION", new Refused("Java's jdk.tls.client.protocols decides", List.of("TLSv1.3"))),
    MIN_PROTOCOL_VERSION("PGMINPROTOCOLVERSION", new Refused("protocol 3.0 is spoken", List.of("3.0"))),
    MAX_PROTOCOL_VERSION("PGMAXPROTOCOLVERSION", new Refused("protocol 3.0 is spoken", List.of("3.0", "latest"))),
    REQUIREPEER("PGREQUIREPEER", new Refused("it belongs to Unix sockets", List.of())),
    GSSDELEGATION("PGGSSDELEGATION", new Refused("credentials are not delegated", List.of("0"))),
    SCRAM_CLIENT_KEY("", new Refused("a password is needed", List.of())),
    SCRAM_SERVER_KEY("", new Refused("a password is needed", List.of())),
    OAUTH_ISSUER("", new Refused("OAuth is not supported", List.of())),
    OAUTH_CLIENT_ID("", new Refused("OAuth is not supported", List.of())),
    OAUTH_CLIENT_SECRET("", new Refused("OAuth is not supported", List.of())),
    OAUTH_SCOPE("", new Refused("OAuth is not supported", List.of()));

    private static final Map<String, Keyword> BY_NAME =
            Arrays.stream(values()).collect(Collectors.toMap(Keyword::toString, Function.identity()));

    private final String variable;
    // Records over List.of and Map.of: immutable, which their types do not say.
    @SuppressWarnings("ImmutableEnumChecker")
    private final Treatment treatment;

    Keyword(String variable, Treatment treatment) {
        this.variable = variable;
        this.treatment = treatment;
    }

    Optional<String> variable() {
        return variable.isEmpty() ? Optional.empty() : Optional.of(variable);
    }

    Treatment treatment() {
        return treatment;
    }

    static Optional<Keyword> of(String name) {
        return Optional.ofNullable(BY_NAME.get(name));
    }

    static Set<String> names() {
        return BY_NAME.keySet();
    }

    /// As `libpq` writes it.
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
