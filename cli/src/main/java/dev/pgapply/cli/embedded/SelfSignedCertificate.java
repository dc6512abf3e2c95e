package dev.pgapply.cli.embedded;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Base64;
import java.util.List;
import java.util.Map;

/// Key and certificate for a server with TLS, made by the JDK's `keytool`.
final class SelfSignedCertificate {

    private static final String SECRET = "changeit";

    private SelfSignedCertificate() {}

    /// Writes `server.key` and `server.crt` into the data folder.
    ///
    /// @return the settings that make the server use them
    static Map<String, String> create(ServerFolder folder) throws IOException {
        Path keytool = Path.of(System.getProperty("java.home"), "bin", "keytool");
        Path store = folder.root().resolve("server.p12");
        OperatingSystem.run(List.of(
                keytool.toString(),
                "-genkeypair",
                "-alias",
                "server",
                "-keyalg",
                "EC",
                "-groupname",
                "secp256r1",
                "-dname",
                "CN=localhost",
                "-ext",
                "SAN=dns:localhost,ip:127.0.0.1",
                "-validity",
                "3650",
                "-storetype",
                "PKCS12",
                "-keystore",
                store.toString(),
                "-storepass",
                SECRET));
        try (InputStream in = Files.newInputStream(store)) {
            KeyStore keys = KeyStore.getInstance("PKCS12");
            keys.load(in, SECRET.toCharArray());
            write(
                    folder,
                    "server.key",
                    "PRIVATE KEY",
                    keys.getKey("server", SECRET.toCharArray()).getEncoded());
            write(
                    folder,
                    "server.crt",
                    "CERTIFICATE",
                    keys.getCertificate("server").getEncoded());
        } catch (GeneralSecurityException e) {
            throw new ServerException("no self-signed certificate", e);
        }
        return Map.of("ssl", "on");
    }

    private static void write(ServerFolder folder, String name, String kind, byte[] der) throws IOException {
        Path file = folder.data().resolve(name);
        String base64 = Base64.getMimeEncoder(64, "\n".getBytes(StandardCharsets.US_ASCII))
                .encodeToString(der);
        Files.writeString(file, "-----BEGIN " + kind + "-----\n" + base64 + "\n-----END " + kind + "-----\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
        OperatingSystem.giveToServer(file);
    }
}
