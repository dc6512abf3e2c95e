package dev.pgapply.apply.source;

import dev.pgapply.apply.ApplyException;
import dev.pgapply.apply.ApplyException.SetupException;
import dev.pgapply.apply.ApplyException.SourceLost;
import dev.pgapply.apply.ErrorCode;
import dev.pgapply.decoder.transaction.SpoolException;

/// Who must act when a streamed transaction cannot be kept. Nothing of it was confirmed, so the source sends it
/// again in any case.
public final class SpoolErrors {

    private SpoolErrors() {}

    public static ApplyException translate(SpoolException e) {
        String what = String.valueOf(e.getMessage());
        return switch (e) {
            case SpoolException.LimitReached ignored ->
                new SetupException(
                        ErrorCode.SPOOL_FULL,
                        what,
                        "Give it more room with --spool-limit, have the source keep such transactions until their"
                                + " commit with --spool-full wait, or do without: --streaming off.",
                        e);
            case SpoolException.DiskFull ignored ->
                new SetupException(ErrorCode.SPOOL_FULL, what, "Make room, or choose another --spool-dir.", e);
            // The one that is sent again is written anew.
            case SpoolException.Damaged ignored -> new SourceLost(ErrorCode.SOURCE_LOST, what, "", e);
            case SpoolException.Unusable ignored ->
                new SetupException(ErrorCode.SETUP, what, "Choose another --spool-dir.", e);
        };
    }
}
