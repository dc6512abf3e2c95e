package dev.pgapply.cli.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pgapply.cli.connection.ConnectionString.Resolved;
import dev.pgapply.cli.connection.ConnectionString.Side;
import dev.pgapply.schema.postgres.PostgresEndpoint;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PasswordTest {

    private static final String ODD = "p@ss w:/?#%+'\"\\é";

    @TempDir
    private Path home;

    private final Map<String, String> variables = new HashMap<>();

    @Test
    void anOddPasswordSurvivesEveryWayOfWritingIt() throws IOException {
        String encoded = URLEncoder.encode(ODD, StandardCharsets.UTF_8).replace("+", "%20");
        String quoted = "'" + ODD.replace("\\", "\\\\").replace("'", "\\'") + "'";
        assertPassword(ODD, "postgresql://app:" + encoded + "@db1/app");
        assertPassword(ODD, "postgresql://db1/app?user=app&password=" + encoded);
        assertPassword(ODD, "host=db1 user=app password=" + quoted);
        assertPassword(ODD, "jdbc:postgresql://db1/app?user=app&password=" + encoded);
        passwordFile("*:*:*:*:" + ODD.replace("\\", "\\\\").replace(":", "\\:"));
        assertPassword(ODD, "postgresql://app@db1/app");
        variables.put("PGPASSWORD", ODD);
        assertPassword(ODD, "postgresql://app@db1/app");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            db1:5432:app:me:right                      | right
            *:*:*:*:right                              | right
            # db1:5432:app:me:wrong                    |
            db2:*:*:*:wrong                            |
            db1:5433:*:*:wrong                         |
            db1:*:other:*:wrong                        |
            db1:*:*:other:wrong                        |
            db1:5432:app:me                            |
            d\\b1:5432:a\\pp:me:ri\\ght                | right
            db1:5432:app:me:right:ignored              | right
            \\*:*:*:*:wrong                            |
            **:*:*:*:wrong                             |
            """)
    void theFirstLineThatFitsIsTaken(String line, String password) throws IOException {
        passwordFile("nothing\n\n" + line + "\n");
        assertEquals(
                Optional.ofNullable(password),
                endpoint(Side.TARGET, "host=db1 dbname=app user=me").password().get());
    }

    @Test
    void theFileIsLookedUpByTheHostsNameEvenWhereItsAddressIsGiven() throws IOException {
        passwordFile("db1:*:*:*:right\n127.0.0.1:*:*:*:wrong");
        assertPassword("right", "host=db1 hostaddr=127.0.0.1");
    }

    @ParameterizedTest
    @ValueSource(strings = {"rw-r-----", "rw----r--", "rw-rw-rw-"})
    void aFileThatOthersMayReadIsLeftAside(String permissions) throws IOException {
        Files.setPosixFilePermissions(passwordFile("*:*:*:*:wrong"), PosixFilePermissions.fromString(permissions));
        assertEquals(
                Optional.empty(), endpoint(Side.SOURCE, "host=db1").password().get());
    }

    @Test
    void theNearerPlaceWins() throws IOException {
        variables.put("PGPASSFILE", passwordFile("*:*:*:*:from pgpass").toString());
        assertPassword("from pgpass", "host=db1");
        variables.put("PGPASSWORD", "from variable");
        assertPassword("from variable", "host=db1");
        assertPassword("from string", "host=db1 password='from string'");
        Path own = Files.writeString(home.resolve("secret"), "from file\r\n");
        assertEquals(
                Optional.of("from file"),
                ConnectionString.resolve("host=db1 password=x", Side.SOURCE, environment(), Optional.of(own))
                        .endpoint()
                        .password()
                        .get());
    }

    @Test
    void aRotatedPasswordIsPickedUpByTheNextConnection() throws IOException {
        PostgresEndpoint withPasswordFile = endpoint(Side.TARGET, "host=db1");
        Path own = Files.writeString(home.resolve("secret"), "old");
        PostgresEndpoint withOwnFile = ConnectionString.resolve(
                        "host=db1", Side.TARGET, environment(), Optional.of(own))
                .endpoint();
        assertEquals(Optional.empty(), withPasswordFile.password().get());
        assertEquals(Optional.of("old"), withOwnFile.password().get());
        passwordFile("*:*:*:*:new");
        Files.writeString(own, "new");
        assertEquals(Optional.of("new"), withPasswordFile.password().get());
        assertEquals(Optional.of("new"), withOwnFile.password().get());
        Files.delete(own);
        assertEquals(Optional.empty(), withOwnFile.password().get());
    }

    @Test
    void aPasswordInTheStringIsReported() {
        assertTrue(resolve(Side.SOURCE, "postgresql://app:pw@db1/app").passwordInText());
        assertTrue(resolve(Side.SOURCE, "host=db1 password=pw").passwordInText());
        variables.put("PGPASSWORD", "pw");
        assertFalse(resolve(Side.SOURCE, "postgresql://app@db1/app").passwordInText());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "postgresql://app:p@ss w:/?#%+'\"\\é@db1/app",
                "postgresql://app:p@ssword@db1/app",
                "postgresql://app:sec/ret@db1/app",
                "postgresql://app:12/secret@db1/app",
                "postgresql://app:p@x?secret=y@db1/app",
                "postgresql://app:sec%ret@db1/app",
                "postgresql://app:ok@db1/app?secret=1",
                "host=db1 password=my secret=1",
                "host=db1 password=my secret",
                "host=db1 password='my'secret",
                "jdbc:postgresql://app:secret@db1/app",
                "jdbc:postgresql://db1/app?password=my&secret=1"
            })
    void noPieceOfABrokenPasswordIsRepeated(String text) {
        ConnectionException rejected = assertThrows(ConnectionException.class, () -> resolve(Side.SOURCE, text));
        String shown = rejected.getMessage() + rejected.hint();
        assertFalse(shown.contains("ss") && !shown.contains("ssl") && !shown.contains("pass"), shown);
        assertFalse(shown.contains("secret"), shown);
        assertFalse(shown.contains("ret@"), shown);
    }

    @Test
    void noTextOfTheResultShowsThePassword() {
        variables.put("PGPASSWORD", ODD);
        Resolved resolved = resolve(Side.SOURCE, "postgresql://app:s3cr3t@db1/app");
        String shown = resolved + " " + resolved.endpoint() + " "
                + resolved.endpoint().password() + " " + resolved.endpoint().parameters() + environment();
        assertFalse(shown.contains("s3cr3t") || shown.contains(ODD), shown);
    }

    private void assertPassword(String expected, String text) {
        assertEquals(
                Optional.of(expected), endpoint(Side.SOURCE, text).password().get());
    }

    private Path passwordFile(String content) throws IOException {
        Path file = Files.writeString(home.resolve(".pgpass"), content);
        return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    }

    private PostgresEndpoint endpoint(Side side, String text) {
        return resolve(side, text).endpoint();
    }

    private Resolved resolve(Side side, String text) {
        return ConnectionString.resolve(text, side, environment(), Optional.empty());
    }

    private ProcessEnvironment environment() {
        return new ProcessEnvironment(variables, home, "os");
    }
}
