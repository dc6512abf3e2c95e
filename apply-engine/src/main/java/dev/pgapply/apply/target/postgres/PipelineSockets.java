package dev.pgapply.apply.target.postgres;

import java.lang.ref.WeakReference;
import java.net.Socket;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGProperty;

/// Lets the driver open one connection and keeps hold of its socket, so that a [Pipeline] can speak on it
/// afterwards.
///
/// The driver names its socket factories by class, so the link from its properties back to this object is a
/// token in a registry. The registry holds this object weakly and forgets it at [#close()]: sockets that the
/// driver opens later (to cancel a statement) are ordinary ones. One object serves one connection attempt:
///
/// ```
/// try (PipelineSockets sockets = new PipelineSockets(endpoint.parameters())) {
///     properties.putAll(sockets.properties());
///     Connection connection = DriverManager.getConnection(url, properties);
///     Pipeline pipeline = Pipeline.take(connection, sockets);
/// }
/// ```
final class PipelineSockets implements AutoCloseable {

    private static final Map<String, WeakReference<PipelineSockets>> REGISTRY = new ConcurrentHashMap<>();
    private static final Set<String> LIBPQ_FACTORIES =
            Set.of("org.postgresql.ssl.LibPQFactory", "org.postgresql.ssl.jdbc4.LibPQFactory");

    private final String token = UUID.randomUUID().toString();
    private final Map<String, String> parameters;

    // Filled by the thread that connects, which is one of the driver's own when a login timeout is set.
    private final Deque<Socket> sockets = new ConcurrentLinkedDeque<>();
    private final Map<Socket, SSLSocket> secured = new ConcurrentHashMap<>();

    /// @param parameters the driver properties that the connection is going to have; socket and TLS factories
    ///     named in them are used below the pipeline's own
    /// @throws IllegalArgumentException if they demand GSSAPI encryption, which lives inside the driver
    PipelineSockets(Map<String, String> parameters) {
        if ("require".equals(parameters.get(PGProperty.GSS_ENC_MODE.getName()))) {
            throw new IllegalArgumentException("gssEncMode=require cannot be used for the target: use TLS");
        }
        this.parameters = Map.copyOf(parameters);
        REGISTRY.values().removeIf(reference -> reference.get() == null);
        REGISTRY.put(token, new WeakReference<>(this));
    }

    /// What has to be laid over the connection's other properties.
    Map<String, String> properties() {
        Class<?> tls = usesLibPq() ? PipelineLibPqFactory.class : PipelineTlsFactory.class;
        Map<String, String> properties = new HashMap<>();
        properties.put(PGProperty.SOCKET_FACTORY.getName(), PipelineSocketFactory.class.getName());
        properties.put(PGProperty.SOCKET_FACTORY_ARG.getName(), token);
        properties.put(PGProperty.SSL_FACTORY.getName(), tls.getName());
        properties.put(PGProperty.SSL_FACTORY_ARG.getName(), token);
        properties.put(PGProperty.GSS_ENC_MODE.getName(), "disable");
        return properties;
    }

    /// Forgets the token; a pipeline taken before goes on working.
    @Override
    public void close() {
        REGISTRY.remove(token);
    }

    /// The sockets of the connection that the driver has just opened. Attempts on other hosts or without TLS
    /// may have come before; the driver has closed those.
    Taken take(Connection connection) throws SQLException {
        if (connection.isClosed() || !connection.getAutoCommit()) {
            throw new IllegalStateException("a pipeline needs an open connection in autocommit mode");
        }
        Socket last = sockets.peekLast();
        if (last == null || last.isClosed()) {
            throw new IllegalStateException("the connection was not opened with these properties");
        }
        return new Taken(last, Optional.ofNullable((Socket) secured.get(last)).orElse(last));
    }

    /// @param transport the socket that the operating system knows; closing it ends every wait on it
    /// @param conversation the socket that carries the protocol: the same, or TLS over it
    record Taken(Socket transport, Socket conversation) {}

    static PipelineSockets of(@Nullable String token) {
        WeakReference<PipelineSockets> reference = token == null ? null : REGISTRY.get(token);
        PipelineSockets sockets = reference == null ? null : reference.get();
        if (sockets == null) {
            throw new IllegalStateException("this connection's socket factory was closed before it connected");
        }
        return sockets;
    }

    Socket opened(Socket socket) {
        if (isOpen()) {
            sockets.add(socket);
        }
        return socket;
    }

    Socket secured(Socket below, Socket socket) {
        if (isOpen() && socket instanceof SSLSocket ssl) {
            secured.put(below, ssl);
        }
        return socket;
    }

    /// The class and argument that the endpoint names for a factory property, laid over the driver's own view.
    Properties withOwn(Properties info, PGProperty argument) {
        Properties own = new Properties();
        own.putAll(info);
        own.remove(argument.getName());
        String value = parameters.get(argument.getName());
        if (value != null) {
            own.setProperty(argument.getName(), value);
        }
        return own;
    }

    Optional<String> own(PGProperty property) {
        return Optional.ofNullable(parameters.get(property.getName()));
    }

    private boolean isOpen() {
        return REGISTRY.containsKey(token);
    }

    private boolean usesLibPq() {
        return own(PGProperty.SSL_FACTORY).map(LIBPQ_FACTORIES::contains).orElse(true);
    }
}
