package dev.pgapply.decoder.transaction;

import dev.pgapply.decoder.PgOutputDecoder;
import dev.pgapply.decoder.PgOutputMessage;
import java.util.function.Consumer;

/// What a transaction consists of, where it was kept: in memory and perhaps a file.
public final class KeptParts {

    private final Spool spool;
    private final Relations relations;

    KeptParts(Spool spool, Relations relations) {
        this.spool = spool;
        this.relations = relations;
    }

    /// Hands out the changes and messages, and forgets them.
    ///
    /// @throws SpoolException if they cannot be read back; some were handed out then
    void read(Consumer<? super TransactionEvent> out) {
        // Kept messages are what they would be outside of a stream block, so an ordinary decoder reads them.
        PgOutputDecoder decoder = new PgOutputDecoder();
        ChangeResolver changes = new ChangeResolver(relations);
        spool.replay((bytes, offset, length) -> {
            TransactionEvent event =
                    changes.resolve((PgOutputMessage.Streamable) decoder.decode(bytes, offset, length));
            if (event != null) {
                out.accept(event);
            }
        });
        discard();
    }

    /// Forgets them unread.
    public void discard() {
        spool.delete();
    }
}
