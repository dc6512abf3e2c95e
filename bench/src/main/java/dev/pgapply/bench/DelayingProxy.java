package dev.pgapply.bench;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;

/// A TCP proxy on 127.0.0.1 that hands on each byte half a round trip later, in both directions, and holds up
/// to 4 MB on the way, as a long line with a large window does.
final class DelayingProxy implements Closeable {

    private static final int CHUNK_BYTES = 64 * 1024;
    private static final int MAX_CHUNKS = 64;

    private static final class Chunk {
        final byte[] bytes;
        final long dueNanos;

        Chunk(byte[] bytes, long dueNanos) {
            this.bytes = bytes;
            this.dueNanos = dueNanos;
        }
    }

    private final ServerSocket server;
    private final int targetPort;
    private final long delayNanos;
    private final Queue<Socket> sockets = new ConcurrentLinkedQueue<>();

    DelayingProxy(int targetPort, int roundTripMillis) {
        this.targetPort = targetPort;
        this.delayNanos = roundTripMillis * 1_000_000L / 2;
        try {
            server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Thread.ofPlatform().daemon().name("proxy").start(this::accept);
    }

    int port() {
        return server.getLocalPort();
    }

    private void accept() {
        try {
            while (true) {
                Socket client = server.accept();
                Socket target = new Socket();
                target.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), targetPort));
                client.setTcpNoDelay(true);
                target.setTcpNoDelay(true);
                sockets.add(client);
                sockets.add(target);
                new Direction(client, target).start();
                new Direction(target, client).start();
            }
        } catch (IOException e) {
            // Closed.
            return;
        }
    }

    @Override
    public void close() {
        closeQuietly(server);
        sockets.forEach(DelayingProxy::closeQuietly);
    }

    private static void closeQuietly(Closeable socket) {
        try {
            socket.close();
        } catch (IOException e) {
            // It is of no use any more either way.
            return;
        }
    }

    /// One direction of one connection: a thread reads, another one writes what is due.
    private final class Direction {
        private final Socket from;
        private final Socket to;
        private final ArrayDeque<Chunk> chunks = new ArrayDeque<>();
        private boolean ended;

        Direction(Socket from, Socket to) {
            this.from = from;
            this.to = to;
        }

        void start() {
            Thread.ofPlatform().daemon().name("proxy-in").start(this::read);
            Thread.ofPlatform().daemon().name("proxy-out").start(this::write);
        }

        private void read() {
            byte[] buffer = new byte[CHUNK_BYTES];
            try (InputStream in = from.getInputStream()) {
                int read = in.read(buffer);
                while (read >= 0) {
                    put(new Chunk(java.util.Arrays.copyOf(buffer, read), System.nanoTime() + delayNanos));
                    read = in.read(buffer);
                }
            } catch (IOException | InterruptedException e) {
                // The other side sees the end too.
            } finally {
                end();
            }
        }

        private void write() {
            try (OutputStream out = to.getOutputStream()) {
                Chunk chunk = take();
                while (chunk != null) {
                    long wait = chunk.dueNanos - System.nanoTime();
                    while (wait > 0) {
                        LockSupport.parkNanos(wait);
                        wait = chunk.dueNanos - System.nanoTime();
                    }
                    out.write(chunk.bytes);
                    chunk = take();
                }
            } catch (IOException | InterruptedException e) {
                // The reader of this direction notices at its next read.
                closeQuietly(from);
            }
        }

        private synchronized void put(Chunk chunk) throws InterruptedException {
            while (chunks.size() >= MAX_CHUNKS) {
                wait();
            }
            chunks.add(chunk);
            notifyAll();
        }

        private synchronized @org.jspecify.annotations.Nullable Chunk take() throws InterruptedException {
            while (chunks.isEmpty() && !ended) {
                wait();
            }
            Chunk next = chunks.poll();
            notifyAll();
            return next;
        }

        private synchronized void end() {
            ended = true;
            notifyAll();
        }
    }
}
