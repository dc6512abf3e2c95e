package dev.pgapply.apply.target.postgres;

import dev.pgapply.apply.target.ChangeGroup;
import dev.pgapply.apply.target.EarlySession;
import dev.pgapply.decoder.Lsn;
import dev.pgapply.decoder.transaction.TransactionEvent;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// A writing session whose transaction is begun before its commit is known.
final class PostgresEarlySession implements EarlySession {

    private final PostgresTargetSession session;
    /// How many rows were written before each savepoint.
    private final Map<Integer, Long> rowsBefore = new HashMap<>();

    private boolean begun;

    PostgresEarlySession(PostgresTargetSession session) {
        this.session = session;
    }

    @Override
    public void write(List<TransactionEvent> changes) {
        begin();
        session.apply(new ChangeGroup(new ArrayList<>(changes), 0, false));
    }

    private void begin() {
        if (!begun) {
            session.begin(
                    new TransactionEvent.Begin(0, Lsn.INVALID, Instant.EPOCH, Optional.empty(), Optional.empty()));
            begun = true;
        }
    }

    @Override
    public void savepoint(int subxid) {
        begin();
        session.run("SAVEPOINT " + name(subxid));
        rowsBefore.put(subxid, session.openRows());
    }

    @Override
    public void rollbackTo(int subxid) {
        session.run("ROLLBACK TO SAVEPOINT " + name(subxid));
        session.run("RELEASE SAVEPOINT " + name(subxid));
        session.openRows(rowsBefore.getOrDefault(subxid, session.openRows()));
    }

    private static String name(int subxid) {
        return "s" + Integer.toUnsignedString(subxid);
    }

    @Override
    public void rollback() {
        forget();
        session.rollback();
    }

    @Override
    public ChangeGroup.Applied finish(TransactionEvent.Begin begin, TransactionEvent end) {
        begin();
        forget();
        session.continues(begin);
        return session.apply(new ChangeGroup(new ArrayList<>(List.of(end)), 1, false));
    }

    private void forget() {
        begun = false;
        rowsBefore.clear();
    }

    @Override
    public void close() {
        session.close();
    }

    @Override
    public void abort() {
        session.abort();
    }
}
