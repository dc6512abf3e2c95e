package dev.pgapply.apply.source;

import dev.pgapply.apply.Subscription.Streaming.Mode;
import dev.pgapply.decoder.Lsn;
import dev.pgapply.schema.postgres.Quoting;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/// What `START_REPLICATION` asks for: the newest protocol that the source's version has, and only options that
/// it knows (any other is an error there).
///
/// @param majorVersion the source's, 10 or newer
/// @param binary values in binary form where their type has one; from 14 on
/// @param localOnly leave out transactions that the source itself has from elsewhere; from 16 on
/// @param streaming when to send large transactions; on from 14 on, parallel from 16 on
/// @param twoPhase send prepared transactions when they are prepared; from 15 on
/// @see <a href="https://www.postgresql.org/docs/current/protocol-logical-replication.html">Logical
/// streaming</a>
public record StreamOptions(
        int majorVersion,
        List<String> publications,
        boolean binary,
        boolean localOnly,
        Mode streaming,
        boolean twoPhase) {

    /// The newest version of the protocol that the source speaks.
    public int protocolVersion() {
        if (majorVersion >= 16) {
            return 4;
        }
        return switch (majorVersion) {
            case 15 -> 3;
            case 14 -> 2;
            default -> 1;
        };
    }

    String command(String slot, Lsn start) {
        List<String> options = new ArrayList<>();
        options.add("proto_version '" + protocolVersion() + "'");
        // The server reads the value as a list of identifiers, which it folds unless they are quoted.
        options.add("publication_names "
                + Quoting.literal(publications.stream().map(Quoting::identifier).collect(Collectors.joining(","))));
        if (binary && majorVersion >= 14) {
            options.add("binary 'true'");
        }
        if (majorVersion >= 14) {
            options.add("messages 'true'");
        }
        if (localOnly) {
            options.add("origin 'none'");
        }
        if (streaming != Mode.OFF) {
            options.add("streaming '" + streaming.name().toLowerCase(Locale.ROOT) + "'");
        }
        if (twoPhase) {
            options.add("two_phase 'on'");
        }
        return "START_REPLICATION SLOT " + Quoting.identifier(slot) + " LOGICAL " + start + " ("
                + String.join(", ", options) + ")";
    }
}
