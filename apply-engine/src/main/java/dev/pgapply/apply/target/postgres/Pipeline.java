package dev.pgapply.apply.target.postgres;

import dev.pgapply.apply.target.postgres.PipelineSockets.Taken;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;

/// Speaks the extended query protocol on a connection that the driver has opened: many statements, and COPY
/// among them, in one round trip, with values handed over as the bytes that came in.
///
/// Statements are queued between two calls of [#sync()]; that is a *round*. They run in order; when one fails,
/// the server skips the rest of the round. A round without BEGIN is one implicit transaction. After `sync` the
/// row counts of the round can be asked for until the next statement is queued.
///
/// **With the driver.** Between rounds the driver's connection may be used for ordinary statements, in
/// autocommit mode and without LISTEN: both sides read exactly up to ReadyForQuery, so the stream is whole for
/// whoever comes next. `DISCARD ALL` and `DEALLOCATE ALL` would take the prepared statements away and are not
/// allowed.
///
/// **No deadlock.** A round of a few kilobytes fits into the socket's buffers whatever the server does, and its
/// replies are read afterwards by the caller's thread. In a longer one a thread made for the round reads while
/// this one writes, so that a server that talks much (a trigger that raises a notice for each row) is never
/// waited for by a writer that it waits for. Notices, notifications and parameter changes are skipped, not
/// kept.
///
/// **Threads.** One thread at a time; only [#close()] may come from another. There is no timeout: whoever
/// watches a wait ends it by `close`, or through the server by the driver's cancel request.
///
/// **Errors.** [PipelineException] from [#sync()] names the failed statement, and the pipeline goes on; one
/// that says the connection is lost may come from any call and is final. Wrong use is an IllegalStateException.
///
/// Source: PostgreSQL documentation, "Frontend/Backend Protocol", Extended Query and Pipelining.
final class Pipeline implements AutoCloseable {

    static final byte TEXT = 0;
    static final byte BINARY = 1;
    static final long NO_TAG = -1;

    /// Bounds what is kept for a round: 16 bytes per statement.
    static final int MAX_STATEMENTS = 1 << 20;

    /// The server takes no larger message; its own limit includes the length word.
    static final int MAX_MESSAGE_BYTES = 0x3fff_ffff;

    /// Of the statements known by text alone, the ones used last stay prepared.
    static final int MAX_SIMPLE_STATEMENTS = 64;

    /// How long a failed write waits for the server's last words.
    private static final int LAST_WORDS_MILLIS = 1000;

    private enum State {
        READY,
        BINDING,
        COPYING,
        LOST
    }

    private final int safeBytes;
    private final PipelineOutput output;
    private final PipelineReplies replies;
    private final ReplyReading reading;
    private final BindParameters parameters = new BindParameters();
    private final Map<String, PreparedSql> simple = new LinkedHashMap<>(16, 0.75f, true);
    private int prepared;

    private State state = State.READY;
    private boolean roundEnded = true;
    private long[] tags = new long[256];
    private int executed;
    private @Nullable PreparedSql bound;

    /// In the order of their messages in this round.
    private final List<PreparedSql> parses = new ArrayList<>();

    /// Given up, and the server has not said yet that it knows.
    private final List<PreparedSql> closes = new ArrayList<>();

    // Written by the thread that calls close, read by the one that uses the pipeline.
    private volatile boolean closed;

    /// @param transport closing it ends every wait on the two streams
    /// @param safeBytes so many bytes can be written although the server reads nothing
    Pipeline(InputStream in, OutputStream out, Closeable transport, int safeBytes) {
        this.safeBytes = safeBytes;
        this.replies = new PipelineReplies(in);
        this.reading = new ReplyReading(replies, transport);
        this.output = new PipelineOutput(out, reading::begin);
    }

    /// A pipeline on a connection that was opened with the properties of `sockets`.
    static Pipeline take(Connection connection, PipelineSockets sockets) throws SQLException {
        Taken taken = sockets.take(connection);
        try {
            Socket conversation = taken.conversation();
            int safeBytes = Math.min(64 * 1024, taken.transport().getSendBufferSize() / 2);
            return new Pipeline(
                    conversation.getInputStream(), conversation.getOutputStream(), taken.transport(), safeBytes);
        } catch (IOException e) {
            throw PipelineException.lost("its socket is closed", e);
        }
    }

    /// A statement to be prepared on the server when it is first used. Nothing is sent now.
    ///
    /// @param parameterTypes type OIDs; 0, or fewer than there are parameters, lets the server infer them
    PreparedSql prepare(String sql, int... parameterTypes) {
        return new PreparedSql(this, ++prepared, sql, parameterTypes);
    }

    /// Gives the statement up; the server hears of it with the next round.
    void close(PreparedSql statement) {
        if (statement.close()) {
            closes.add(statement);
        }
    }

    /// Begins the next execution; exactly `parameterCount` parameters and then `execute` or `query` must
    /// follow. The arrays handed over must not change until then.
    ///
    /// @throws IllegalArgumentException for more than [BindParameters#MAX_PARAMETERS]
    void bind(PreparedSql statement, int parameterCount) {
        require(State.READY);
        if (!statement.isUsableBy(this)) {
            throw new IllegalStateException("the statement is closed or belongs to another pipeline");
        }
        parameters.begin(parameterCount);
        beginRound();
        bound = statement;
        state = State.BINDING;
    }

    void nullParameter() {
        require(State.BINDING);
        parameters.addNull();
    }

    /// @param format [#TEXT] or [#BINARY]
    void parameter(byte format, byte[] bytes, int offset, int length) {
        require(State.BINDING);
        Objects.checkFromIndexSize(offset, length, bytes.length);
        parameters.add(format, bytes, offset, length);
    }

    void parameter(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        parameter(TEXT, bytes, 0, bytes.length);
    }

    /// Queues the bound statement; rows that it returns are dropped.
    ///
    /// @param tag comes back with an error of this statement
    /// @return the statement's index in the round
    /// @throws SQLException 54000 if the values are too large for one message: nothing was queued
    int execute(long tag) throws SQLException {
        return queue(tag, false, TEXT);
    }

    /// Queues the bound statement and keeps the rows it returns, at most [QueryRows#MAX_ROWS], for [#rows].
    ///
    /// @param format of all its columns
    /// @return the statement's index in the round
    int query(long tag, byte format) throws SQLException {
        return queue(tag, true, format);
    }

    /// Queues a constant statement without parameters (BEGIN, SAVEPOINT s …). Its text is the key under which
    /// it stays prepared, so it should be one of few.
    int simple(String sql) throws SQLException {
        bind(known(sql), 0);
        return execute(NO_TAG);
    }

    /// Begins a `COPY … FROM STDIN`; [#copyData] and [#copyDone] must follow. If the server refuses the COPY,
    /// it ignores the data like the rest of the round.
    void copyIn(PreparedSql copy) throws SQLException {
        bind(copy, 0);
        queueBound(false, TEXT);
        state = State.COPYING;
    }

    void copyIn(String sql) throws SQLException {
        copyIn(known(sql));
    }

    /// Appends to the COPY's data; borders between calls mean nothing.
    void copyData(byte[] bytes, int offset, int length) throws SQLException {
        require(State.COPYING);
        if (replies.failed()) {
            return;
        }
        try {
            output.copyData(bytes, offset, length);
        } catch (IOException e) {
            throw lost(e);
        }
    }

    /// Ends the COPY's data.
    ///
    /// @return the COPY's index in the round
    int copyDone(long tag) throws SQLException {
        require(State.COPYING);
        state = State.READY;
        try {
            output.endCopyData();
            output.start('c', 4);
            output.end();
        } catch (IOException e) {
            throw lost(e);
        }
        return count(tag);
    }

    /// Ends the round: sends what is queued and waits until the server has done all of it.
    ///
    /// @throws PipelineException if a statement failed, or the connection is lost
    void sync() throws SQLException {
        require(State.READY);
        beginRound();
        finishRound();
        ServerErrorMessage error = replies.error();
        if (error != null) {
            int failedAt = replies.completed();
            throw PipelineException.failed(error, failedAt, failedAt < executed ? tags[failedAt] : NO_TAG);
        }
        if (replies.completed() != executed) {
            throw lost(new IOException(replies.completed() + " replies to " + executed + " statements"));
        }
    }

    /// Gives the round up: drops what has not been sent, and waits for what has. A transaction that was begun
    /// stays open; see [#transactionStatus].
    void reset() throws SQLException {
        if (state == State.LOST) {
            throw lost(null);
        }
        boolean copying = state == State.COPYING;
        state = State.READY;
        output.discard();
        executed = 0;
        if (!reading.hasBegun()) {
            forgetParses(0);
            roundEnded = true;
            return;
        }
        try {
            if (copying) {
                // Outside a COPY the server ignores it.
                output.start('f', 5);
                output.int8(0);
                output.end();
            }
        } catch (IOException e) {
            throw lost(e);
        }
        finishRound();
    }

    /// Whether the server has refused a statement of this round, as far as its replies have been read: what is
    /// queued now is not going to run.
    boolean hasFailed() {
        return replies.failed();
    }

    /// How many statements the last round had.
    int executed() {
        return executed;
    }

    /// Rows that a statement of the last round reported: inserted, updated, deleted, copied or selected.
    ///
    /// @throws IndexOutOfBoundsException if it did not run to its end
    long affected(int index) {
        requireResult(index);
        return replies.affected(index);
    }

    /// The tag that a statement of the last round was queued with.
    long tag(int index) {
        return tags[Objects.checkIndex(index, executed)];
    }

    /// @throws IllegalStateException if the statement was not a `query`, or returned more than
    /// [QueryRows#MAX_ROWS]
    QueryRows rows(int index) {
        requireResult(index);
        QueryRows rows = replies.rows(index);
        if (rows == null || rows.isTruncated()) {
            throw new IllegalStateException("no rows were asked for, or too many came");
        }
        return rows;
    }

    /// As of the last round's end: `I` outside a transaction, `T` inside one, `E` inside one that has failed.
    char transactionStatus() {
        return replies.transactionStatus();
    }

    /// Ends the connection at once, from any thread: whoever waits in a call gets an exception. Twice is as
    /// good as once. An orderly end is the driver's `Connection.close()`, which needs nothing from here.
    @Override
    public void close() {
        closed = true;
        reading.close();
    }

    private PreparedSql known(String sql) {
        PreparedSql statement = simple.get(sql);
        if (statement == null) {
            statement = prepare(sql);
            simple.put(sql, statement);
            if (simple.size() > MAX_SIMPLE_STATEMENTS) {
                var eldest = simple.entrySet().iterator();
                close(eldest.next().getValue());
                eldest.remove();
            }
        }
        return statement;
    }

    private int queue(long tag, boolean collect, byte format) throws SQLException {
        queueBound(collect, format);
        return count(tag);
    }

    private void queueBound(boolean collect, byte format) throws SQLException {
        require(State.BINDING);
        parameters.requireComplete();
        PreparedSql statement = Objects.requireNonNull(bound);
        state = State.READY;
        if (executed == MAX_STATEMENTS) {
            throw new IllegalStateException("a round has at most " + MAX_STATEMENTS + " statements");
        }
        if (parameters.messageLength(statement.name()) > MAX_MESSAGE_BYTES) {
            parameters.clear();
            throw new SQLException("the values of one statement need more than 1 GB", "54000");
        }
        if (replies.failed()) {
            return;
        }
        if (collect) {
            replies.collect(executed);
        }
        try {
            if (statement.writeParse(output)) {
                parses.add(statement);
            }
            parameters.write(output, statement.name(), format);
            output.start('E', 9);
            output.int8(0);
            output.int32(0);
            output.end();
        } catch (IOException e) {
            throw lost(e);
        }
    }

    private int count(long tag) {
        if (executed == tags.length) {
            tags = Arrays.copyOf(tags, executed * 2);
        }
        tags[executed] = tag;
        return executed++;
    }

    private void beginRound() {
        if (roundEnded) {
            roundEnded = false;
            executed = 0;
            parses.clear();
            replies.begin();
        }
    }

    private void finishRound() throws PipelineException {
        try {
            for (PreparedSql statement : closes) {
                statement.writeClose(output);
            }
            output.start('S', 4);
            output.end();
            if (output.pending() > safeBytes) {
                reading.begin();
            }
            output.flush();
            reading.finish();
        } catch (IOException e) {
            throw lost(e);
        }
        roundEnded = true;
        forgetParses(replies.parsed());
        closes.subList(0, replies.closed()).clear();
    }

    /// What was skipped behind an error is to be prepared again when it is used again.
    private void forgetParses(int known) {
        parses.subList(known, parses.size()).forEach(PreparedSql::forget);
        parses.clear();
    }

    private PipelineException lost(@Nullable IOException cause) {
        state = State.LOST;
        reading.abandon(LAST_WORDS_MILLIS);
        ServerErrorMessage lastWords = replies.lastWords();
        if (closed) {
            return PipelineException.lost("closed by this side", cause);
        }
        if (lastWords != null) {
            PSQLException said = new PSQLException(lastWords, false);
            return PipelineException.lost("the server said " + said.getMessage(), said);
        }
        return PipelineException.lost(cause == null ? "it failed before" : String.valueOf(cause.getMessage()), cause);
    }

    private void require(State needed) {
        if (state != needed) {
            throw new IllegalStateException("the pipeline is " + state + ", not " + needed);
        }
    }

    private void requireResult(int index) {
        if (!roundEnded) {
            throw new IllegalStateException("the round has not ended");
        }
        Objects.checkIndex(index, Math.min(executed, replies.completed()));
    }
}
