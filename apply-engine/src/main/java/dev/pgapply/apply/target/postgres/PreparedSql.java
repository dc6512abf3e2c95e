package dev.pgapply.apply.target.postgres;

import java.io.IOException;
import java.nio.charset.StandardCharsets;

/// A statement's text and parameter types, and its name on the server once a pipeline has used it.
final class PreparedSql {

    private final Pipeline owner;
    private final byte[] sql;
    private final int[] parameterTypes;
    private final byte[] name;

    /// Whether the server has it, or will have it when it comes to what is already queued.
    private boolean parsed;

    private boolean closed;

    PreparedSql(Pipeline owner, int number, String sql, int[] parameterTypes) {
        this.owner = owner;
        this.sql = zeroTerminated(sql);
        this.parameterTypes = parameterTypes.clone();
        this.name = zeroTerminated("pgapply_" + number);
    }

    private static byte[] zeroTerminated(String text) {
        if (text.indexOf('\0') >= 0) {
            throw new IllegalArgumentException("a statement cannot contain a zero character");
        }
        return (text + '\0').getBytes(StandardCharsets.UTF_8);
    }

    /// With its zero byte, as on the wire.
    byte[] name() {
        return name;
    }

    boolean isUsableBy(Pipeline pipeline) {
        return owner == pipeline && !closed;
    }

    /// Ends its use; says whether the server has to be told.
    boolean close() {
        boolean known = parsed && !closed;
        closed = true;
        return known;
    }

    /// The server has skipped the Parse message.
    void forget() {
        parsed = false;
    }

    /// Writes a Parse message if the server needs one, and says so.
    boolean writeParse(PipelineOutput output) throws IOException {
        if (parsed) {
            return false;
        }
        output.start('P', 4 + name.length + sql.length + 2 + 4 * parameterTypes.length);
        output.bytes(name);
        output.bytes(sql);
        output.int16(parameterTypes.length);
        for (int type : parameterTypes) {
            output.int32(type);
        }
        output.end();
        parsed = true;
        return true;
    }

    void writeClose(PipelineOutput output) throws IOException {
        output.start('C', 4 + 1 + name.length);
        output.int8('S');
        output.bytes(name);
        output.end();
    }
}
