package dev.pgapply.it;

import dev.pgapply.schema.postgres.PostgresEndpoint;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Assertions;

/// A network between the engine and a server, with faults on demand.
final class TcpProxy implements AutoCloseable {

    /// What happens once to the next bytes that the server sends, on whichever connection that is.
    enum Fault {
        NONE,
        /// Half of them arrive, then both ends are closed in good order.
        HALF_THEN_CLOSE,
        /// None of them arrives, the client's end is reset.
        REPLY_LOST
    }

    private final ServerSocket listener;
    private final InetSocketAddress server;
    private final Set<Link> links = ConcurrentHashMap.newKeySet();
    private final AtomicReference<Fault> armed = new AtomicReference<>(Fault.NONE);
    private final AtomicLong bytesUntilReset = new AtomicLong(Long.MAX_VALUE);
    private volatile boolean silent;

    private TcpProxy(InetSocketAddress server) {
        this.server = server;
        try {
            listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        run("proxy", this::accept);
    }

    static TcpProxy before(TestDatabase database) {
        return new TcpProxy(new InetSocketAddress(
                database.server().host(), database.server().port()));
    }

    /// The way to the same database through this proxy.
    PostgresEndpoint through(PostgresEndpoint endpoint) {
        return new PostgresEndpoint(
                List.of(new PostgresEndpoint.Host("127.0.0.1", listener.getLocalPort())),
                endpoint.database(),
                endpoint.user(),
                endpoint.password(),
                endpoint.parameters());
    }

    /// Resets all connections.
    void reset() {
        links.forEach(link -> link.close(true));
    }

    /// Resets the connection on which the server has sent the last of so many bytes, counted over all of them.
    void resetAfter(long bytesFromServer) {
        bytesUntilReset.set(bytesFromServer);
    }

    /// Lets the next bytes of the server meet a fault, and waits until they have.
    ///
    /// @param then makes the server send something
    void inject(Fault fault, Runnable then) {
        armed.set(fault);
        then.run();
        Await.until(fault + " has happened", () -> armed.get() == Fault.NONE);
    }

    /// From now on nothing passes, and nobody is told: not on the connections that are there, which stay dead,
    /// nor on new ones.
    void fallSilent() {
        silent = true;
        links.forEach(link -> link.dead = true);
    }

    /// New connections pass again.
    void heal() {
        silent = false;
    }

    private void accept() {
        try {
            while (true) {
                Socket client = listener.accept();
                Link link = new Link(client, new Socket());
                links.add(link);
                run("proxy-link", link::open);
            }
        } catch (IOException e) {
            // The listener is closed: the test is over.
        }
    }

    private static void run(String name, Runnable task) {
        Thread.ofPlatform().daemon().name(name).start(task);
    }

    /// One connection.
    private final class Link {

        private final Socket client;
        private final Socket behind;
        private final CountDownLatch closed = new CountDownLatch(1);
        private volatile boolean dead = silent;

        private Link(Socket client, Socket behind) {
            this.client = client;
            this.behind = behind;
        }

        private void open() {
            try {
                behind.connect(server);
                run("proxy-requests", () -> pump(client, behind, false));
                pump(behind, client, true);
            } catch (IOException e) {
                close(false);
            }
        }

        private void pump(Socket from, Socket to, boolean replies) {
            byte[] buffer = new byte[16 << 10];
            try {
                InputStream in = from.getInputStream();
                OutputStream out = to.getOutputStream();
                int length;
                while ((length = in.read(buffer)) > 0) {
                    if (dead) {
                        closed.await();
                        return;
                    }
                    if (replies && meetsFault(out, buffer, length)) {
                        return;
                    }
                    out.write(buffer, 0, length);
                }
                close(false);
            } catch (IOException e) {
                close(false);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        private boolean meetsFault(OutputStream out, byte[] buffer, int length) throws IOException {
            if (bytesUntilReset.addAndGet(-length) <= 0) {
                bytesUntilReset.set(Long.MAX_VALUE);
                close(true);
                return true;
            }
            return switch (armed.get()) {
                case NONE -> false;
                case HALF_THEN_CLOSE -> {
                    if (!armed.compareAndSet(Fault.HALF_THEN_CLOSE, Fault.NONE)) {
                        yield false;
                    }
                    out.write(buffer, 0, length / 2);
                    close(false);
                    yield true;
                }
                case REPLY_LOST -> {
                    if (!armed.compareAndSet(Fault.REPLY_LOST, Fault.NONE)) {
                        yield false;
                    }
                    close(true);
                    yield true;
                }
            };
        }

        private void close(boolean reset) {
            links.remove(this);
            closed.countDown();
            try {
                if (reset) {
                    client.setSoLinger(true, 0);
                }
                client.close();
                behind.close();
            } catch (IOException e) {
                // Closed is closed.
            }
        }
    }

    @Override
    public void close() {
        try {
            listener.close();
        } catch (IOException e) {
            Assertions.fail(e);
        }
        reset();
    }
}
