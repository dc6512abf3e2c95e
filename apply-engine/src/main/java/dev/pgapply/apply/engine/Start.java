package dev.pgapply.apply.engine;

import dev.pgapply.apply.Subscription;
import dev.pgapply.apply.source.ReplicationConnection;
import dev.pgapply.apply.source.ReplicationConnection.NewSlot;
import dev.pgapply.apply.tablesync.ControlTables;
import dev.pgapply.apply.tablesync.CopyJob;
import dev.pgapply.apply.tablesync.CopyOrigin;
import dev.pgapply.apply.tablesync.TableSync;
import dev.pgapply.apply.target.TargetSession;
import dev.pgapply.decoder.Lsn;
import dev.pgapply.schema.SchemaException;
import dev.pgapply.schema.postgres.PostgresSession;
import dev.pgapply.schema.postgres.ReceivedTables;
import dev.pgapply.schema.postgres.SlotFacts;
import dev.pgapply.schema.postgres.SourceFacts;
import dev.pgapply.schema.postgres.SourceServer;
import dev.pgapply.schema.postgres.SubscriptionRecord;
import dev.pgapply.schema.postgres.TableStates;
import java.util.List;
import java.util.Optional;

/// Gets an attempt to where it can stream: makes or checks the slot, and copies the tables that are not there
/// yet.
///
/// Nothing is applied before its position is stored: a killed start leaves either nothing, or a slot that the
/// next start adopts where it stands, with tables that are copied anew.
final class Start {

    private final Attempt attempt;
    private final Job job;
    private final PostgresSession source;
    private final ControlTables control;
    private final TargetSession session;
    private final DataSessions sessions;

    Start(
            Attempt attempt,
            Job job,
            PostgresSession source,
            ControlTables control,
            TargetSession session,
            DataSessions sessions) {
        this.attempt = attempt;
        this.job = job;
        this.source = source;
        this.control = control;
        this.session = session;
        this.sessions = sessions;
    }

    /// @return where the stream goes on
    Lsn begin(SourceFacts facts, FollowedTables tables) throws InterruptedException {
        String slotName = job.subscription().slotName();
        Lsn progress = session.progress();
        SlotCheck check = new SlotCheck(
                new SlotCheck.Source(facts.systemIdentifier(), facts.database(), endOfLog(facts)), slotName);
        return switch (check.decide(slot(slotName), control.slot(), progress)) {
            case SlotCheck.Decision.Resume resume -> {
                tables.store(resume.progress());
                copyUnderTemporarySlot(tables);
                yield resume.progress();
            }
            case SlotCheck.Decision.Adopt adopt -> {
                store(facts, tables, adopt.start());
                copyUnderTemporarySlot(tables);
                yield adopt.start();
            }
            case SlotCheck.Decision.Create ignored -> create(facts, tables);
        };
    }

    private Lsn create(SourceFacts facts, FollowedTables tables) throws InterruptedException {
        ReplicationConnection replication = attempt.openReplication(sessions);
        NewSlot slot = make(replication, job.subscription().slotName(), false);
        store(facts, tables, slot.consistentPoint());
        copy(tables.copyJobs(), tables, slot);
        replication.close();
        return slot.consistentPoint();
    }

    /// The only exact pair of a snapshot and its position comes with a new slot, so a later copy makes one for
    /// a while.
    private void copyUnderTemporarySlot(FollowedTables tables) throws InterruptedException {
        List<CopyJob> jobs = tables.copyJobs();
        if (jobs.isEmpty()) {
            return;
        }
        ReplicationConnection replication = attempt.openReplication(sessions);
        String name = job.subscription().objectName() + "_copy";
        copy(jobs, tables, make(replication, name, true));
        replication.close();
    }

    private NewSlot make(ReplicationConnection replication, String name, boolean temporary)
            throws InterruptedException {
        boolean failover = !temporary && job.subscription().failover();
        return new SlotPatience(source, job.sourceErrors(), job.listener())
                .watching(() -> replication.createSlot(name, temporary, failover));
    }

    private void copy(List<CopyJob> jobs, FollowedTables tables, NewSlot slot) throws InterruptedException {
        if (jobs.isEmpty()) {
            return;
        }
        warnOfReceivedRows(jobs);
        try (CopyOrigin origin = CopyOrigin.open(
                job.target().connector(),
                job.target().errors(),
                job.subscription().objectName() + "_copy")) {
            tables.truncateIfWished(jobs, origin);
            TableSync.Sides sides = new TableSync.Sides(
                    job.source(),
                    sessions.sourceCopy(),
                    job.sourceErrors(),
                    job.target().connector(),
                    sessions.targetCopy(),
                    job.target().errors(),
                    origin);
            try (TableSync sync = new TableSync(
                    sides,
                    new TableStates(job.subscription().name()),
                    job.subscription().copy().tableJobs(),
                    job.listener())) {
                attempt.breaker(sync::abort);
                sync.copy(jobs, slot.snapshot(), slot.consistentPoint());
            }
        }
    }

    /// The stream can leave out what the source has received itself; a copy cannot tell.
    private void warnOfReceivedRows(List<CopyJob> jobs) {
        if (job.subscription().origin() != Subscription.Origin.NONE) {
            return;
        }
        try {
            ReceivedTables.among(source, jobs.stream().map(CopyJob::table).toList())
                    .forEach(table -> job.warnOnce("table " + table
                            + " of the source receives rows from elsewhere: they are copied all the same, though later"
                            + " ones are left out"));
        } catch (SchemaException e) {
            throw job.sourceErrors().translate(e);
        }
    }

    private void store(SourceFacts facts, FollowedTables tables, Lsn start) {
        control.putSlot(new SubscriptionRecord(
                facts.systemIdentifier(), facts.database(), job.subscription().slotName(), "pgoutput", start));
        tables.store(start);
        session.start(start);
    }

    /// A standby may be behind for a while.
    private Lsn endOfLog(SourceFacts facts) {
        if (facts.inRecovery()) {
            return Lsn.INVALID;
        }
        try {
            return new SourceServer(source).flushPosition();
        } catch (SchemaException e) {
            throw job.sourceErrors().translate(e);
        }
    }

    private Optional<SlotFacts> slot(String name) {
        try {
            return new SourceServer(source).slot(name);
        } catch (SchemaException e) {
            throw job.sourceErrors().translate(e);
        }
    }
}
