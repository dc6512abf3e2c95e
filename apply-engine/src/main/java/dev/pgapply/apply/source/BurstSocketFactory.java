package dev.pgapply.apply.source;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.Map;
import javax.net.SocketFactory;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGProperty;

/// Sockets for a replication connection, which read in bursts while the source has more to send than we have
/// taken (see [BurstInputStream]). TLS goes above them as above any other. Public because the driver makes it
/// by name.
public final class BurstSocketFactory extends SocketFactory {

    /// The driver properties that put it into use.
    public static Map<String, String> driverProperties() {
        return Map.of(PGProperty.SOCKET_FACTORY.getName(), BurstSocketFactory.class.getName());
    }

    @Override
    public Socket createSocket() {
        return new BurstSocket();
    }

    @Override
    public Socket createSocket(String host, int port) throws IOException {
        return connect(new InetSocketAddress(host, port), null);
    }

    @Override
    public Socket createSocket(String host, int port, InetAddress localHost, int localPort) throws IOException {
        return connect(new InetSocketAddress(host, port), new InetSocketAddress(localHost, localPort));
    }

    @Override
    public Socket createSocket(InetAddress host, int port) throws IOException {
        return connect(new InetSocketAddress(host, port), null);
    }

    @Override
    public Socket createSocket(InetAddress address, int port, InetAddress localAddress, int localPort)
            throws IOException {
        return connect(new InetSocketAddress(address, port), new InetSocketAddress(localAddress, localPort));
    }

    private static Socket connect(InetSocketAddress remote, @Nullable InetSocketAddress local) throws IOException {
        Socket socket = new BurstSocket();
        try {
            socket.bind(local);
            socket.connect(remote);
            return socket;
        } catch (IOException e) {
            socket.close();
            throw e;
        }
    }

    private static final class BurstSocket extends Socket {

        // Made by the thread that connects, which is one of the driver's own when a login timeout is set.
        private volatile @Nullable InputStream bursts;

        /// Always the same stream: what it holds must not get lost when TLS or the driver asks again.
        @Override
        public InputStream getInputStream() throws IOException {
            InputStream stream = bursts;
            if (stream == null) {
                stream = new BurstInputStream(super.getInputStream(), BurstInputStream.Waiting.REAL);
                bursts = stream;
            }
            return stream;
        }
    }
}
