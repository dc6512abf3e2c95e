package dev.pgapply.apply.engine;

import dev.pgapply.schema.postgres.PostgresSession;
import dev.pgapply.schema.postgres.SessionProfile;

/// How sessions that carry rows are set up. Where one of the two databases has the encoding `SQL_ASCII`, nobody
/// knows what its bytes mean: they pass as they are, and the other side refuses what it cannot hold.
///
/// @param unconverted no server converts characters
record DataSessions(boolean unconverted, boolean allowTriggers) {

    static DataSessions between(PostgresSession source, PostgresSession target, boolean allowTriggers) {
        boolean unknown = source.databaseEncoding().equals(PostgresSession.SQL_ASCII)
                || target.databaseEncoding().equals(PostgresSession.SQL_ASCII);
        return new DataSessions(unknown, allowTriggers);
    }

    SessionProfile sourceCopy() {
        return converting(SessionProfile.SOURCE_COPY);
    }

    SessionProfile sourceReplication() {
        return converting(SessionProfile.SOURCE_REPLICATION);
    }

    SessionProfile targetCopy() {
        SessionProfile profile = converting(SessionProfile.TARGET_COPY);
        return allowTriggers ? profile.withTriggersAllowed() : profile;
    }

    private SessionProfile converting(SessionProfile profile) {
        return unconverted ? profile.withoutConversion() : profile;
    }
}
