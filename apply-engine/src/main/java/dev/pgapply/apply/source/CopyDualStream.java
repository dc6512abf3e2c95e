package dev.pgapply.apply.source;

import dev.pgapply.decoder.Lsn;
import java.nio.ByteBuffer;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyDual;

/// The driver's public copy-both stream with status updates of our own: the driver's `PGReplicationStream`
/// sends none while it waits, and acknowledges keepalives by itself.
final class CopyDualStream implements ReplicationStream {

    private static final Instant POSTGRES_EPOCH = Instant.parse("2000-01-01T00:00:00Z");
    private static final int DATA_HEADER_BYTES = 1 + 8 + 8 + 8;
    private static final int KEEPALIVE_BYTES = 1 + 8 + 8 + 1;

    private final Connection connection;
    private final CopyDual copy;
    private final Clock clock;
    private final SourceErrors errors;
    private final ByteBuffer status = ByteBuffer.allocate(1 + 8 + 8 + 8 + 8 + 1);

    private CopyDualStream(Connection connection, CopyDual copy, Clock clock, SourceErrors errors) {
        this.connection = connection;
        this.copy = copy;
        this.clock = clock;
        this.errors = errors;
    }

    static ReplicationStream start(Connection connection, String command, Clock clock, SourceErrors errors) {
        try {
            CopyDual copy = connection.unwrap(PGConnection.class).getCopyAPI().copyDual(command);
            return new CopyDualStream(connection, copy, clock, errors);
        } catch (SQLException e) {
            throw errors.translate("START_REPLICATION was refused", e);
        }
    }

    @Override
    public boolean read(Handler handler) {
        byte @Nullable [] message;
        try {
            message = copy.readFromCopy(false);
        } catch (SQLException e) {
            throw errors.translate("the replication stream broke", e);
        }
        if (message == null) {
            if (!copy.isActive()) {
                throw errors.streamEnded();
            }
            return false;
        }
        switch (message.length == 0 ? 0 : message[0]) {
            case 'w' -> {
                requireLength(message, DATA_HEADER_BYTES + 1);
                handler.data(message, DATA_HEADER_BYTES, message.length - DATA_HEADER_BYTES);
            }
            case 'k' -> {
                requireLength(message, KEEPALIVE_BYTES);
                long walEnd = ByteBuffer.wrap(message).getLong(1);
                handler.keepalive(new Lsn(walEnd), message[KEEPALIVE_BYTES - 1] != 0);
            }
            default -> throw errors.violation("unknown replication message", message);
        }
        return true;
    }

    private void requireLength(byte[] message, int bytes) {
        if (message.length < bytes) {
            throw errors.violation("replication message too short", message);
        }
    }

    @Override
    public void status(Lsn written, Lsn flushed, Lsn applied, boolean replyRequested) {
        long micros = ChronoUnit.MICROS.between(POSTGRES_EPOCH, clock.instant());
        status.clear();
        status.put((byte) 'r')
                .putLong(written.value())
                .putLong(flushed.value())
                .putLong(applied.value())
                .putLong(micros)
                .put((byte) (replyRequested ? 1 : 0));
        try {
            copy.writeToCopy(status.array(), 0, status.capacity());
            copy.flushCopy();
        } catch (SQLException e) {
            throw errors.translate("the status update could not be sent", e);
        }
    }

    @Override
    public void close() {
        // No endCopy: it would first read everything that is still on its way. Closing the socket frees the slot too.
        abort();
    }

    @Override
    public void abort() {
        try {
            connection.abort(Runnable::run);
        } catch (SQLException e) {
            // The connection is gone already, which is all that was wanted.
        }
    }
}
