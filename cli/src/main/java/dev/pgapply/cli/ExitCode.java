package dev.pgapply.cli;

import dev.pgapply.apply.ApplyException;
import dev.pgapply.apply.ApplyException.SetupException;

/// What a script learns from the process: who has to act. The numbers never change.
enum ExitCode {
    /// Done, `--until` reached, or stopped by a signal in a run that has no end of its own.
    DONE(0),
    /// Differences were found.
    DIFFERENT(1),
    /// A bad option, URI or configuration file.
    USAGE(2),
    /// Something has to be set up in one of the databases first.
    SETUP(3),
    /// The source cannot be reached or refuses.
    SOURCE(4),
    /// The target cannot be reached, refuses or is full.
    TARGET(5),
    /// A change cannot be applied: a person has to decide.
    DATA(6),
    /// The slot was lost, or somebody else moved it.
    SLOT_LOST(7),
    /// Another instance runs this subscription.
    INSTANCE_RUNNING(8),
    /// SIGINT before `--until` was reached, or a second one.
    INTERRUPTED(130),
    /// SIGTERM before `--until` was reached, or a second one.
    TERMINATED(143);

    private final int number;

    ExitCode(int number) {
        this.number = number;
    }

    int number() {
        return number;
    }

    /// The same tables that do not fit are a matter of set-up before anything was written, and of data
    /// afterwards.
    static ExitCode of(ApplyException failure) {
        return switch (failure.code()) {
            case SETUP -> SETUP;
            case SOURCE_LOST, SOURCE_REFUSED, SLOT_ACTIVE -> SOURCE;
            case TARGET_LOST, TARGET_REFUSED, TARGET_FULL -> TARGET;
            case SCHEMA_MISMATCH -> failure instanceof SetupException ? SETUP : DATA;
            case CONFLICT, CHANGE_REJECTED, PROTOCOL_VIOLATION, SPOOL_FULL -> DATA;
            case SLOT_LOST -> SLOT_LOST;
            case INSTANCE_RUNNING -> INSTANCE_RUNNING;
        };
    }
}
