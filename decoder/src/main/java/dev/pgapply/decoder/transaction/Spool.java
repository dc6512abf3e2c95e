package dev.pgapply.decoder.transaction;

import dev.pgapply.decoder.PgOutputMessage;
import java.nio.file.Path;

/// The messages of one streamed transaction until its end is known: a file, if there is one, and then memory. A
/// position counts bytes over both.
final class Spool {

    /// A record of this size is written to the file directly if there is no room for it in memory: a copy more
    /// of a very large value could be one too many.
    private static final int LARGE_RECORD_BYTES = 1024 * 1024;

    private final int xid;
    private final SpoolBudget budget;
    private final SpoolFile file;
    private final SubtransactionOffsets subtransactions = new SubtransactionOffsets();
    private SpoolMemory memory = new SpoolMemory();
    private long accounted;

    Spool(int xid, Path file, SpoolBudget budget) {
        this.xid = xid;
        this.budget = budget;
        this.file = new SpoolFile(xid, file, budget);
    }

    void append(PgOutputMessage.Streamed streamed) {
        if (streamed.xid() != xid) {
            subtransactions.begins(streamed.xid(), file.length() + memory.usedBytes());
        }
        int size = SpoolRecord.sizeOf(streamed.wire());
        if (size > LARGE_RECORD_BYTES && budget.memoryIsExceededWith(size)) {
            spill();
            file.append(streamed.wire());
        } else {
            memory.append(streamed.wire());
        }
        account();
    }

    /// Removes what a subtransaction did.
    ///
    /// @return whether it had done anything
    boolean abort(int subxid) {
        long offset = subtransactions.cut(subxid);
        if (offset < 0) {
            return false;
        }
        memory.truncate(Math.max(0, offset - file.length()));
        file.truncate(offset);
        account();
        return true;
    }

    /// What writing to the file would free.
    long spillableBytes() {
        return memory.allocatedBytes();
    }

    /// Moves what is in memory to the file, in one write.
    void spill() {
        if (memory.usedBytes() > 0) {
            file.append(memory);
        }
        memory = new SpoolMemory();
        account();
    }

    /// Hands out the messages in the order they came, each as it would be outside of a stream block.
    void replay(SpoolMemory.Sink sink) {
        file.replay(sink);
        memory.replay(sink);
    }

    void delete() {
        memory = new SpoolMemory();
        budget.memoryChanged(-accounted);
        accounted = 0;
        file.delete();
    }

    private void account() {
        long now = memory.allocatedBytes() + subtransactions.allocatedBytes();
        budget.memoryChanged(now - accounted);
        accounted = now;
    }
}
