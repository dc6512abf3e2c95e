package dev.pgapply.apply.target.postgres;

/// Whether sets of one table are worth trying. A single failure means nothing; a table that fails again soon is
/// left alone for a while, each time twice as long.
final class Confidence {

    /// A failure is forgotten after so many groups without another.
    private static final int MEMORY = 32;

    private static final int FIRST_PAUSE = 4;
    private static final int LONGEST_PAUSE = 256;

    private int failures;
    private int sinceFailure;
    private int pause;

    /// Whether the table's changes may be reduced now.
    boolean holds() {
        return pause == 0;
    }

    /// The table has made a group fail.
    void failed() {
        failures++;
        sinceFailure = 0;
        if (failures > 1) {
            pause = (int) Math.min(LONGEST_PAUSE, (long) FIRST_PAUSE << Math.min(failures - 2, 16));
        }
    }

    /// One group with changes of this table has been written.
    void groupWritten() {
        if (pause > 0) {
            pause--;
        } else if (failures > 0 && ++sinceFailure >= MEMORY) {
            failures = 0;
        }
    }
}
