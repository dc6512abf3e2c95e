package dev.pgapply.cli.connection;

import dev.pgapply.cli.connection.Treatment.Ignored;
import dev.pgapply.cli.connection.Treatment.Mapped;
import dev.pgapply.cli.connection.Treatment.Own;
import dev.pgapply.cli.connection.Treatment.Passed;
import dev.pgapply.cli.connection.Treatment.Refused;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;

/// Translates `libpq` parameters to the driver's properties.
///
/// Where both mean different things by the same word, `libpq`'s meaning is kept: a root certificate makes
/// `sslmode=require` verify, keep-alive is on, the client key may be the PEM file that `psql` uses.
final class DriverProperties {

    private static final List<String> SSL_MODES =
            List.of("disable", "allow", "prefer", "require", "verify-ca", "verify-full");

    private static final String PLAIN_PEM = "BEGIN PRIVATE KEY";

    // DER of the object identifiers 1.2.840.10045.2.1 and 1.3.101.112.
    private static final String OID_EC = "\u0006\u0007*\u0086H\u00ce=\u0002\u0001";
    private static final String OID_ED25519 = "\u0006\u0003+ep";

    private final Given given;
    private final Path sslFolder;
    private final Map<String, String> properties = new TreeMap<>();

    private DriverProperties(Given given, Path home) {
        this.given = given;
        this.sslFolder = home.resolve(".postgresql");
    }

    /// @throws ConnectionException if a parameter asks for what the driver cannot do
    static Map<String, String> of(Given given, Path home) {
        return new DriverProperties(given, home).translate();
    }

    private Map<String, String> translate() {
        properties.put("tcpKeepAlive", "true");
        for (Keyword keyword : Keyword.values()) {
            given.get(keyword).ifPresent(value -> apply(keyword, value));
        }
        connectTimeout();
        serverCertificate();
        clientCertificate();
        properties.putAll(given.driverProperties());
        return properties;
    }

    private void apply(Keyword keyword, String value) {
        switch (keyword.treatment()) {
            case Own own -> {}
            case Ignored ignored -> {}
            case Passed(String property, List<String> values) -> {
                if (!values.isEmpty() && !values.contains(value)) {
                    throw unexpected(keyword, values);
                }
                properties.put(property, value);
            }
            case Mapped(String property, Map<String, String> values) -> {
                String translated = values.get(value);
                if (translated == null) {
                    throw unexpected(keyword, List.copyOf(new TreeSet<>(values.keySet())));
                }
                properties.put(property, translated);
            }
            case Refused(String reason, List<String> harmless) -> {
                if (!harmless.contains(value)) {
                    throw new ConnectionException(
                            keyword + " cannot be set to that here: " + reason, "Leave " + keyword + " out.");
                }
            }
        }
    }

    // libpq waits for ever unless it is told otherwise, and never less than two seconds; the driver's ten stay the
    // default.
    private void connectTimeout() {
        given.get(Keyword.CONNECT_TIMEOUT).ifPresent(text -> {
            try {
                int seconds = Integer.parseInt(text.strip());
                int effective = seconds <= 0 ? 0 : Math.max(2, seconds);
                properties.put("connectTimeout", String.valueOf(effective));
            } catch (NumberFormatException e) {
                throw new ConnectionException("connect_timeout is not a whole number of seconds");
            }
        });
    }

    private void serverCertificate() {
        Optional<String> mode = given.get(Keyword.SSLMODE)
                .or(() -> given.get(Keyword.REQUIRESSL).filter("1"::equals).map(one -> "require"));
        mode.filter(value -> !SSL_MODES.contains(value)).ifPresent(value -> {
            throw unexpected(Keyword.SSLMODE, SSL_MODES);
        });
        Optional<String> root = given.get(Keyword.SSLROOTCERT);
        if (root.isPresent() && root.get().equals("system")) {
            if (!mode.orElse("verify-full").equals("verify-full")) {
                throw new ConnectionException("sslrootcert=system needs sslmode=verify-full");
            }
            properties.put("sslmode", "verify-full");
            properties.put("sslfactory", "org.postgresql.ssl.DefaultJavaSSLFactory");
            return;
        }
        root.ifPresent(file -> properties.put("sslrootcert", file));
        boolean verifiable = root.isPresent() || Files.exists(sslFolder.resolve("root.crt"));
        mode.ifPresent(value -> properties.put("sslmode", value.equals("require") && verifiable ? "verify-ca" : value));
    }

    private void clientCertificate() {
        given.get(Keyword.SSLCERT).ifPresent(file -> properties.put("sslcert", file));
        Path defaultKey = sslFolder.resolve("postgresql.key");
        Optional<String> key = given.get(Keyword.SSLKEY)
                .or(() -> Files.exists(defaultKey) ? Optional.of(defaultKey.toString()) : Optional.empty());
        key.ifPresent(file -> {
            properties.put("sslkey", file);
            pemAlgorithm(Path.of(file)).ifPresent(algorithm -> properties.put("pemKeyAlgorithm", algorithm));
        });
    }

    /// The driver takes RSA for granted in a PEM file; the key's own algorithm identifier says what it is.
    private static Optional<String> pemAlgorithm(Path key) {
        String content = text(key);
        if (!content.contains("-----BEGIN ")) {
            return Optional.empty();
        }
        if (!content.contains(PLAIN_PEM)) {
            throw new ConnectionException(
                    "the client key " + key + " is in a form that the driver cannot read",
                    "Convert it: openssl pkcs8 -topk8 -nocrypt -in old.key -out new.key");
        }
        String der = decoded(content.substring(content.indexOf(PLAIN_PEM) + PLAIN_PEM.length()));
        if (der.contains(OID_EC)) {
            return Optional.of("EC");
        }
        return der.contains(OID_ED25519) ? Optional.of("Ed25519") : Optional.empty();
    }

    private static String decoded(String afterBegin) {
        String base64 = afterBegin.replaceFirst("(?s)-----END.*", "");
        try {
            return new String(Base64.getMimeDecoder().decode(base64), StandardCharsets.ISO_8859_1);
        } catch (IllegalArgumentException e) {
            return "";
        }
    }

    private static String text(Path file) {
        try {
            return new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            throw new ConnectionException("the client key " + file + " cannot be read: "
                    + e.getClass().getSimpleName());
        }
    }

    private static ConnectionException unexpected(Keyword keyword, List<String> values) {
        return new ConnectionException(keyword + " has an unknown value; expected " + String.join(", ", values));
    }
}
