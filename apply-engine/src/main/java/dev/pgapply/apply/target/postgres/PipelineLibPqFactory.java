package dev.pgapply.apply.target.postgres;

import java.io.IOException;
import java.net.Socket;
import java.sql.SQLException;
import java.util.Properties;
import org.postgresql.PGProperty;
import org.postgresql.ssl.LibPQFactory;

/// The driver's own TLS, whose sockets are shown to [PipelineSockets]. A subclass, since the driver asks just
/// this type for the errors of client keys. Public because the driver makes it by name.
public final class PipelineLibPqFactory extends LibPQFactory {

    private final PipelineSockets sockets;

    /// @param info the connection's properties; the factory argument is the token
    public PipelineLibPqFactory(Properties info) throws SQLException {
        super(info);
        sockets = PipelineSockets.of(PGProperty.SSL_FACTORY_ARG.getOrDefault(info));
    }

    @Override
    public Socket createSocket(Socket socket, String host, int port, boolean autoClose) throws IOException {
        return sockets.secured(socket, super.createSocket(socket, host, port, autoClose));
    }
}
