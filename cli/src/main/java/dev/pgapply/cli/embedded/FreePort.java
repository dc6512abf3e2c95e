package dev.pgapply.cli.embedded;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;

/// Ports for servers. Below the range from which the system takes the ports of outgoing connections, so that a
/// stopped server finds its port free again.
final class FreePort {

    private static final int FIRST = 15_000;
    private static final int AFTER_LAST = 32_000;

    private FreePort() {}

    /// A port that nobody listened on a moment ago.
    static int next() throws IOException {
        for (int attempt = 0; attempt < 1000; attempt++) {
            int port = ThreadLocalRandom.current().nextInt(FIRST, AFTER_LAST);
            if (isFree(port)) {
                return port;
            }
        }
        throw new ServerException("no free port between " + FIRST + " and " + AFTER_LAST);
    }

    private static boolean isFree(int port) {
        try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
            return socket.isBound();
        } catch (IOException e) {
            return false;
        }
    }
}
