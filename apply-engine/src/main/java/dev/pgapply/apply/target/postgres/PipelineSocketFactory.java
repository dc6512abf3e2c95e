package dev.pgapply.apply.target.postgres;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.util.Properties;
import javax.net.SocketFactory;
import org.postgresql.PGProperty;
import org.postgresql.util.ObjectFactory;

/// Opens the target's sockets as the endpoint asks and shows them to [PipelineSockets]. Public because the
/// driver makes it by name.
public final class PipelineSocketFactory extends SocketFactory {

    private final PipelineSockets sockets;
    private final SocketFactory factory;

    /// @param info the connection's properties; the factory argument is the token
    public PipelineSocketFactory(Properties info) throws ReflectiveOperationException {
        sockets = PipelineSockets.of(PGProperty.SOCKET_FACTORY_ARG.getOrDefault(info));
        String own = sockets.own(PGProperty.SOCKET_FACTORY).orElse(null);
        factory = own == null ? SocketFactory.getDefault() : instantiate(own, info);
    }

    private SocketFactory instantiate(String own, Properties info) throws ReflectiveOperationException {
        Properties properties = sockets.withOwn(info, PGProperty.SOCKET_FACTORY_ARG);
        String argument = sockets.own(PGProperty.SOCKET_FACTORY_ARG).orElse(null);
        try {
            return ObjectFactory.instantiate(SocketFactory.class, own, properties, true, argument);
        } catch (java.sql.SQLException e) {
            throw new ReflectiveOperationException(e.getMessage(), e);
        }
    }

    @Override
    public Socket createSocket() throws IOException {
        return sockets.opened(factory.createSocket());
    }

    @Override
    public Socket createSocket(String host, int port) throws IOException {
        return sockets.opened(factory.createSocket(host, port));
    }

    @Override
    public Socket createSocket(String host, int port, InetAddress localHost, int localPort) throws IOException {
        return sockets.opened(factory.createSocket(host, port, localHost, localPort));
    }

    @Override
    public Socket createSocket(InetAddress host, int port) throws IOException {
        return sockets.opened(factory.createSocket(host, port));
    }

    @Override
    public Socket createSocket(InetAddress address, int port, InetAddress localAddress, int localPort)
            throws IOException {
        return sockets.opened(factory.createSocket(address, port, localAddress, localPort));
    }
}
