package dev.pgapply.apply.tablesync;

import dev.pgapply.apply.source.SourceErrors;
import dev.pgapply.apply.target.postgres.TargetErrors;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyIn;
import org.postgresql.copy.CopyOut;

/// Pipes one table's rows from a snapshot of the source into the target: bytes go through, no value is looked
/// at.
final class TableCopier {

    private static final int CHUNK_BYTES = 256 << 10;

    /// What was copied.
    record Copied(long rows, long bytes) {}

    /// Hears of progress, now and then, on the copying thread.
    @FunctionalInterface
    interface Progress {
        void copied(long rows, long bytes);
    }

    private final CopyJob job;
    private final SourceErrors sourceErrors;
    private final TargetErrors targetErrors;

    TableCopier(CopyJob job, SourceErrors sourceErrors, TargetErrors targetErrors) {
        this.job = job;
        this.sourceErrors = sourceErrors;
        this.targetErrors = targetErrors;
    }

    /// Copies between the open transactions of both connections.
    Copied copy(Connection source, Connection target, Progress progress) {
        CopyOut out = open(source);
        CopyIn in;
        try {
            in = target.unwrap(PGConnection.class).getCopyAPI().copyIn(job.copyIn());
        } catch (SQLException e) {
            throw targetErrors.translate("copying", job.table(), e);
        }
        long rows = 0;
        long bytes = 0;
        byte[] chunk = new byte[CHUNK_BYTES];
        int filled = 0;
        byte[] row;
        while ((row = read(out)) != null) {
            rows++;
            if (filled + row.length > chunk.length) {
                write(in, chunk, filled);
                bytes += filled;
                filled = 0;
                progress.copied(rows, bytes);
            }
            if (row.length > chunk.length) {
                write(in, row, row.length);
                bytes += row.length;
            } else {
                System.arraycopy(row, 0, chunk, filled, row.length);
                filled += row.length;
            }
        }
        write(in, chunk, filled);
        bytes += filled;
        finish(in);
        return new Copied(in.getHandledRowCount(), bytes);
    }

    private CopyOut open(Connection source) {
        try {
            return source.unwrap(PGConnection.class).getCopyAPI().copyOut(job.copyOut());
        } catch (SQLException e) {
            throw sourceErrors.translate("reading table " + job.table(), List.of(job.table()), e);
        }
    }

    private byte @org.jspecify.annotations.Nullable [] read(CopyOut out) {
        try {
            return out.readFromCopy();
        } catch (SQLException e) {
            throw sourceErrors.translate("reading table " + job.table(), List.of(job.table()), e);
        }
    }

    private void write(CopyIn in, byte[] bytes, int length) {
        try {
            in.writeToCopy(bytes, 0, length);
        } catch (SQLException e) {
            throw targetErrors.translate("copying", job.table(), e);
        }
    }

    private void finish(CopyIn in) {
        try {
            in.endCopy();
        } catch (SQLException e) {
            throw targetErrors.translate("copying", job.table(), e);
        }
    }
}
