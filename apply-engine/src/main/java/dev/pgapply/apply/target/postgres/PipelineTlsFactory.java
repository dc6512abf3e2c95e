package dev.pgapply.apply.target.postgres;

import java.io.IOException;
import java.net.Socket;
import java.sql.SQLException;
import java.util.Properties;
import javax.net.ssl.SSLSocketFactory;
import org.postgresql.PGProperty;
import org.postgresql.ssl.WrappedFactory;
import org.postgresql.util.ObjectFactory;

/// The TLS factory that the endpoint names, whose sockets are shown to [PipelineSockets]. Public because the
/// driver makes it by name.
public final class PipelineTlsFactory extends WrappedFactory {

    private final PipelineSockets sockets;

    /// @param info the connection's properties; the factory argument is the token
    public PipelineTlsFactory(Properties info) throws ReflectiveOperationException, SQLException {
        sockets = PipelineSockets.of(PGProperty.SSL_FACTORY_ARG.getOrDefault(info));
        factory = ObjectFactory.instantiate(
                SSLSocketFactory.class,
                sockets.own(PGProperty.SSL_FACTORY).orElseThrow(),
                sockets.withOwn(info, PGProperty.SSL_FACTORY_ARG),
                true,
                sockets.own(PGProperty.SSL_FACTORY_ARG).orElse(null));
    }

    @Override
    public Socket createSocket(Socket socket, String host, int port, boolean autoClose) throws IOException {
        return sockets.secured(socket, super.createSocket(socket, host, port, autoClose));
    }
}
