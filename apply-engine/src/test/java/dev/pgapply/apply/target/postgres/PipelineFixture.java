package dev.pgapply.apply.target.postgres;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicInteger;

/// A pipeline whose server is a script, and what it sends there.
final class PipelineFixture {

    private static final int SAFE_BYTES = 64 * 1024;

    private final ByteArrayOutputStream sent = new ByteArrayOutputStream();
    private final AtomicInteger closings = new AtomicInteger();

    Pipeline pipeline(ServerScript script) {
        return pipeline(script.stream());
    }

    Pipeline pipeline(byte[] replies) {
        return pipeline(new ByteArrayInputStream(replies));
    }

    private Pipeline pipeline(InputStream replies) {
        return new Pipeline(replies, sent, closings::incrementAndGet, SAFE_BYTES);
    }

    static void execute(Pipeline pipeline, PreparedSql statement, long tag, String... values) throws SQLException {
        pipeline.bind(statement, values.length);
        for (String value : values) {
            pipeline.parameter(value);
        }
        pipeline.execute(tag);
    }

    ClientMessages sent() {
        return ClientMessages.of(sent.toByteArray());
    }

    int sentBytes() {
        return sent.size();
    }

    /// How often the connection was closed.
    int closings() {
        return closings.get();
    }
}
