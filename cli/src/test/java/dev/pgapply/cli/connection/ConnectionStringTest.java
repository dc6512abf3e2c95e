package dev.pgapply.cli.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pgapply.cli.connection.ConnectionString.Resolved;
import dev.pgapply.cli.connection.ConnectionString.Side;
import dev.pgapply.schema.postgres.PostgresEndpoint;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ConnectionStringTest {

    @TempDir
    private Path home;

    private final Map<String, String> variables = new HashMap<>();

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
            postgresql://                              | os@localhost:5432/os
            postgres://                                | os@localhost:5432/os
            postgresql://db1                           | os@db1:5432/os
            postgresql://db1:5433                      | os@db1:5433/os
            postgresql://db1:/app                      | os@db1:5432/app
            postgresql:///app                          | os@localhost:5432/app
            postgresql:///app?host=db1&port=5433       | os@db1:5433/app
            postgresql://app@db1                       | app@db1:5432/app
            postgresql://app:secret@db1/db             | app@db1:5432/db
            postgresql://app:@db1/db                   | app@db1:5432/db
            postgresql://a%40b:p%2Fw@db1/d%2Fb%20c     | a@b@db1:5432/d/b c
            postgresql://h1:1,h2:2,h3/db               | os@h1:1,h2:2,h3:5432/db
            postgresql://h1,h2:2/db                    | os@h1:5432,h2:2/db
            postgresql://[::1]:5433/db                 | os@[::1]:5433/db
            postgresql://[2001:db8::1],h2:7/db         | os@[2001:db8::1]:5432,h2:7/db
            postgresql://db1/db?                       | os@db1:5432/db
            postgresql://db1/db?user=a@b               | a@b@db1:5432/db
            postgresql://u+v@db1/db+1                  | u+v@db1:5432/db+1
            postgresql://one/db?dbname=other           | os@one:5432/other
            host=db1                                   | os@db1:5432/os
            host=db1 port=5433 dbname=app user=me      | me@db1:5433/app
            host = db1   dbname   =app                 | os@db1:5432/app
            host=db1 dbname='my ''x'                   | !
            host=db1 dbname='my \\'x\\\\'              | os@db1:5432/my 'x\\
            host=db1 dbname=my\\ db user=''            | os@db1:5432/my db
            host=h1,h2 port=5433                       | os@h1:5433,h2:5433/os
            host=h1,,h3 port=1,,3                      | os@h1:1,localhost:5432,h3:3/os
            hostaddr=127.0.0.1                         | os@127.0.0.1:5432/os
            host=db1 hostaddr=127.0.0.1                | os@127.0.0.1:5432/os
            host=db1 host=db2                          | os@db2:5432/os
            jdbc:postgresql://db1:5433/app?user=me     | me@db1:5433/app
            jdbc:postgresql://h1:1,h2/app              | os@h1:1,h2:5432/app
            jdbc:postgresql://[::1]/                   | os@[::1]:5432/os
            jdbc:postgresql:app?user=a+b               | a b@localhost:5432/app
            jdbc:postgresql:/                          | os@localhost:5432/os
            """)
    void everyFormOfStringNamesItsDatabase(String text, String endpoint) {
        if (endpoint.equals("!")) {
            assertThrows(ConnectionException.class, () -> resolve(text));
        } else {
            assertEquals(endpoint, resolve(text).toString());
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "app",
                "db1:5432",
                "mysql://db1/app",
                "duckdb:///x.duckdb",
                "postgresql:/db1/app",
                "postgresql://db1:0/app",
                "postgresql://db1:65536/app",
                "postgresql://db1:54x/app",
                "postgresql://[::1/app",
                "postgresql://[::1]x/app",
                "postgresql://db1/app?sslmode",
                "postgresql://db1/app?sslmode=a=b",
                "postgresql://db1/app?sslmode=require&",
                "postgresql://db1/a%2",
                "postgresql://db1/a%zz",
                "postgresql://db1/a%00",
                "postgresql://db1/a%ff",
                "postgresql://db 1/app",
                "postgresql:///app?host=/var/run/postgresql",
                "postgresql://%2Fvar%2Frun/app",
                "host=/tmp",
                "host=@abstract",
                "host=h1,h2 port=1,2,3",
                "host=h1,h2 hostaddr=127.0.0.1",
                "host=db1 hostaddr=127.0.0.1 sslmode=verify-full",
                "host=db1 dbname",
                "host=db1 dbname='x",
                "jdbc:postgresql://me:pw@db1/app",
                "jdbc:postgresql://db1/app?user=%zz"
            })
    void whatCannotBeMeantIsRejected(String text) {
        assertThrows(ConnectionException.class, () -> resolve(text));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            sslmode=verify-full                  | sslmode=verify-full
            sslmode=require sslrootcert=/r.crt   | sslmode=verify-ca sslrootcert=/r.crt
            sslrootcert=system                   | sslfactory=org.postgresql.ssl.DefaultJavaSSLFactory sslmode=verify-full
            requiressl=1                         | sslmode=require
            sslcert=/c.crt sslnegotiation=direct | sslNegotiation=direct sslcert=/c.crt
            connect_timeout=5                    | connectTimeout=5
            connect_timeout=1                    | connectTimeout=2
            connect_timeout=0                    | connectTimeout=0
            target_session_attrs=read-write      | targetServerType=primary
            target_session_attrs=standby         | targetServerType=secondary
            target_session_attrs=prefer-standby  | targetServerType=preferSecondary
            load_balance_hosts=random            | loadBalanceHosts=true
            channel_binding=require              | channelBinding=require
            require_auth=scram-sha-256           | requireAuth=scram-sha-256
            gssencmode=disable krbsrvname=pg     | gssEncMode=disable kerberosServerName=pg
            options='-c geqo=off'                | options=-c geqo=off
            application_name=x client_encoding=y |
            keepalives_idle=0 sslsni=1           |
            """)
    void parametersBecomeTheDriversProperties(String parameters, String expected) {
        Map<String, String> properties =
                new TreeMap<>(resolve("host=db1 " + parameters).parameters());
        assertEquals("true", properties.remove("tcpKeepAlive"));
        StringBuilder text = new StringBuilder();
        properties.forEach(
                (name, value) -> text.append(' ').append(name).append('=').append(value));
        assertEquals(expected == null ? "" : expected, text.toString().strip());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            sslmod=require               | did you mean sslmode?
            databse=x                    | did you mean dbname?
            sslmode=full                 | expected disable, allow, prefer
            target_session_attrs=master  | expected any, prefer-standby, primary
            connect_timeout=5s           | connect_timeout is not a whole number
            keepalives_idle=60           | keepalives_idle cannot be set
            tcp_user_timeout=1000        | tcp_user_timeout cannot be set
            sslcrl=/x.crl                | sslcrl cannot be set
            ssl_min_protocol_version=TLSv1.3 | jdk.tls.client.protocols
            sslpassword=hush             | without a passphrase
            sslrootcert=system sslmode=require | needs sslmode=verify-full
            """)
    void whatIsUnknownOrImpossibleIsSaid(String parameters, String part) {
        String message = messageOf("host=db1 " + parameters);
        assertTrue(message.contains(part), message);
    }

    @Test
    void theSslFolderOfTheUserIsUsedAsPsqlDoes() throws IOException {
        Path folder = Files.createDirectory(home.resolve(".postgresql"));
        Files.writeString(folder.resolve("root.crt"), "x");
        Files.writeString(
                folder.resolve("postgresql.key"), "-----BEGIN PRIVATE KEY-----\nMIGHAgEAMBMGByqGSM49AgEGCCqGSM49\n");
        Map<String, String> properties = resolve("host=db1 sslmode=require").parameters();
        assertEquals("verify-ca", properties.get("sslmode"));
        assertEquals(folder.resolve("postgresql.key").toString(), properties.get("sslkey"));
        assertEquals("EC", properties.get("pemKeyAlgorithm"));
    }

    @Test
    void aKeyThatTheDriverCannotReadIsRefusedWithTheConversion() throws IOException {
        Path key = Files.writeString(home.resolve("client.key"), "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n");
        ConnectionException refused = assertThrows(ConnectionException.class, () -> resolve("host=db1 sslkey=" + key));
        assertTrue(refused.hint().contains("openssl pkcs8"), refused.hint());
    }

    @Test
    void propertiesOfJdbcUrlsThatWouldChangeSessionsAreReportedAndLeftOut() {
        Resolved resolved = resolve(
                Side.SOURCE, "jdbc:postgresql://db1/app?sslmode=require&reWriteBatchedInserts=true&currentSchema=x");
        assertEquals("require", resolved.endpoint().parameters().get("sslmode"));
        assertFalse(resolved.endpoint().parameters().containsKey("currentSchema"));
        assertTrue(resolved.warnings().getFirst().contains("reWriteBatchedInserts, currentSchema"));
    }

    @Test
    void unknownPropertiesOfJdbcUrlsNameTheNearest() {
        String message = messageOf("jdbc:postgresql://db1/app?conectTimeout=3");
        assertTrue(message.contains("did you mean connectTimeout?"), message);
    }

    @Test
    void variablesFillTheGapsOfTheSourceOnly() {
        variables.putAll(Map.of(
                "PGHOST", "env1,env2",
                "PGPORT", "6000",
                "PGDATABASE", "envdb",
                "PGUSER", "envuser",
                "PGSSLMODE", "require",
                "PGTARGETSESSIONATTRS", "primary",
                "PGPASSWORD", "envpw"));
        PostgresEndpoint source = resolve(Side.SOURCE, "dbname=given").endpoint();
        assertEquals("envuser@env1:6000,env2:6000/given", source.toString());
        assertEquals("require", source.parameters().get("sslmode"));
        assertEquals("primary", source.parameters().get("targetServerType"));
        assertEquals(Optional.of("envpw"), source.password().get());

        PostgresEndpoint target = resolve(Side.TARGET, "dbname=given").endpoint();
        assertEquals("os@localhost:5432/given", target.toString());
        assertFalse(target.parameters().containsKey("sslmode"));
        assertEquals(Optional.empty(), target.password().get());
    }

    @Test
    void anAddressOfTheEnvironmentDoesNotJoinAHostOfTheString() {
        variables.put("PGHOSTADDR", "10.0.0.9");
        assertEquals(
                "os@db1:5432/os", resolve(Side.SOURCE, "host=db1").endpoint().toString());
        assertEquals(
                "os@10.0.0.9:5432/x",
                resolve(Side.SOURCE, "dbname=x").endpoint().toString());
    }

    @Test
    void aServiceStandsBetweenTheStringAndTheVariables() throws IOException {
        Path file = Files.writeString(home.resolve("services"), """
                # comment
                [other]
                host=wrong
                [app]
                host=svc1
                port=7000
                dbname=svcdb

                password=svcpw
                [last]
                host=wrong
                """);
        variables.putAll(Map.of("PGSERVICEFILE", file.toString(), "PGHOST", "env1", "PGUSER", "envuser"));
        PostgresEndpoint source =
                resolve(Side.SOURCE, "service=app dbname=given").endpoint();
        assertEquals("envuser@svc1:7000/given", source.toString());
        assertEquals(Optional.of("svcpw"), source.password().get());
        PostgresEndpoint target = resolve(Side.TARGET, "service=app").endpoint();
        assertEquals("os@svc1:7000/svcdb", target.toString());
        variables.put("PGSERVICE", "app");
        assertEquals(
                "envuser@svc1:7000/svcdb", resolve(Side.SOURCE, "").endpoint().toString());
    }

    @Test
    void servicesAreLookedForAtHomeAndThenInTheSystemsFolder() throws IOException {
        Files.writeString(home.resolve(".pg_service.conf"), "[mine]\nhost=h1\n");
        Path system = Files.createDirectory(home.resolve("etc"));
        Files.writeString(system.resolve("pg_service.conf"), "[mine]\nhost=h2\n[ours]\nhost=h3\n");
        variables.put("PGSYSCONFDIR", system.toString());
        assertEquals("os@h1:5432/os", resolve("service=mine").toString());
        assertEquals("os@h3:5432/os", resolve("postgresql://?service=ours").toString());
        assertThrows(ConnectionException.class, () -> resolve("service=theirs"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"hots=h1", "service=other", "ldap://x/y", "host"})
    void aServiceThatCannotBeReadNamesItsLine(String line) throws IOException {
        Path file = Files.writeString(home.resolve(".pg_service.conf"), "[app]\n" + line + "\n");
        String message = messageOf("service=app");
        assertTrue(message.startsWith(file + ", line 2: "), message);
    }

    private String messageOf(String text) {
        return String.valueOf(
                assertThrows(ConnectionException.class, () -> resolve(text)).getMessage());
    }

    private PostgresEndpoint resolve(String text) {
        return resolve(Side.SOURCE, text).endpoint();
    }

    private Resolved resolve(Side side, String text) {
        return ConnectionString.resolve(text, side, new ProcessEnvironment(variables, home, "os"), Optional.empty());
    }
}
