package dev.pgapply.cli.connection;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// Reads `jdbc:postgresql://host:5432/db?user=u&sslmode=require` as the driver does.
///
/// Properties that say how to reach the server and how to log in are passed on. Those of statements and result
/// sets are left out with a warning, since pgapply pins what its sessions depend on.
final class JdbcUrls {

    private static final Set<String> PASSED_ON = words("""
            ssl sslmode sslcert sslkey sslrootcert sslfactory sslfactoryarg sslhostnameverifier sslpasswordcallback
            sslNegotiation sslResponseTimeout pemKeyAlgorithm channelBinding requireAuth scramMaxIterations
            authenticationPluginClassName connectTimeout loginTimeout cancelSignalTimeout hostRecheckSeconds
            targetServerType loadBalanceHosts localSocketAddress socketFactory socketFactoryArg tcpKeepAlive tcpNoDelay
            sendBufferSize receiveBufferSize gssEncMode gsslib gssResponseTimeout gssUseDefaultCreds
            jaasApplicationName jaasLogin kerberosServerName sspiServiceClass useSpnego options
            """);

    private static final Set<String> WITHOUT_EFFECT = words("""
            adaptiveFetch adaptiveFetchMaximum adaptiveFetchMinimum allowEncodingChanges assumeMinServerVersion autosave
            binaryTransfer binaryTransferDisable binaryTransferEnable classLoaderStrategy cleanupSavepoints
            connectExecutor connectExecutorArg convertBooleanToNumeric currentSchema databaseMetadataCacheFields
            databaseMetadataCacheFieldsMiB defaultRowFetchSize disableColumnSanitiser escapeSyntaxCallMode
            flushCacheOnDdl groupStartupParameters hideUnprivilegedObjects logServerErrorDetail
            logUnclosedConnections loggerFile loggerLevel maxResultBuffer maxSendBufferSize preferQueryMode
            prepareThreshold preparedStatementCacheQueries preparedStatementCacheSizeMiB protocolVersion queryTimeout
            quoteReturningIdentifiers reWriteBatchedInserts reWriteBatchedInsertsSize readOnly readOnlyMode
            replication socketTimeout stringtype unknownLength xmlFactoryFactory
            """);

    /// Properties that are parameters of `libpq` under other names.
    private static final Map<String, Keyword> RENAMED = Map.of(
            "user", Keyword.USER,
            "password", Keyword.PASSWORD,
            "service", Keyword.SERVICE,
            "ApplicationName", Keyword.APPLICATION_NAME,
            "sslpassword", Keyword.SSLPASSWORD,
            "PGHOST", Keyword.HOST,
            "PGPORT", Keyword.PORT,
            "PGDBNAME", Keyword.DBNAME);

    private static final Set<String> KNOWN = Stream.of(PASSED_ON, WITHOUT_EFFECT, RENAMED.keySet())
            .flatMap(Set::stream)
            .collect(Collectors.toUnmodifiableSet());

    private JdbcUrls() {}

    /// @param rest what follows `jdbc:postgresql:`
    /// @param warnings where properties that have no effect are reported
    static Given parse(String rest, List<String> warnings) {
        Given given = new Given();
        int query = rest.indexOf('?');
        String path = query < 0 ? rest : rest.substring(0, query);
        if (path.indexOf('@') >= 0) {
            throw new ConnectionException(
                    "a jdbc: URL has no user and password before the host",
                    "Write ?user=… behind the database, and keep the password in a password file.");
        }
        String database = path;
        if (path.startsWith("//")) {
            int slash = path.indexOf('/', 2);
            Uris.authority(slash < 0 ? path.substring(2) : path.substring(2, slash), given);
            database = slash < 0 ? "" : path.substring(slash + 1);
        }
        database = database.startsWith("/") ? database.substring(1) : database;
        if (!database.isEmpty()) {
            given.put(Keyword.DBNAME, decode(database));
        }
        if (query >= 0) {
            parameters(rest.substring(query + 1), given, warnings);
        }
        return given;
    }

    private static void parameters(String query, Given given, List<String> warnings) {
        List<String> dropped = new ArrayList<>();
        for (String parameter : query.split("&", -1)) {
            given.count();
            int equals = parameter.indexOf('=');
            String name = decode(equals < 0 ? parameter : parameter.substring(0, equals));
            String value = equals < 0 ? "" : decode(parameter.substring(equals + 1));
            Keyword keyword = RENAMED.get(name);
            if (keyword != null) {
                given.put(keyword, value);
            } else if (PASSED_ON.contains(name)) {
                given.putDriverProperty(name, value);
            } else if (WITHOUT_EFFECT.contains(name)) {
                dropped.add(name);
            } else if (!name.isEmpty()) {
                throw given.unknown(name, KNOWN);
            }
        }
        if (!dropped.isEmpty()) {
            warnings.add("the jdbc: URL's " + String.join(", ", dropped)
                    + " has no effect: pgapply sets up its sessions itself");
        }
    }

    private static String decode(String text) {
        try {
            return URLDecoder.decode(text, StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            throw new ConnectionException("a % in the URL is not followed by two hexadecimal digits");
        }
    }

    private static Set<String> words(String text) {
        return Set.of(text.strip().split("\\s+"));
    }
}
