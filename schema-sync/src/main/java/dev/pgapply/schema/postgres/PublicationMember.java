package dev.pgapply.schema.postgres;

import dev.pgapply.decoder.TableName;
import java.sql.Array;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;

/// One table in one publication.
///
/// @param columns what the server says it publishes; absent before 15
/// @param rowFilter without a filter every row is published
record PublicationMember(
        String publication, long oid, TableName name, Optional<List<String>> columns, Optional<String> rowFilter) {

    static PublicationMember of(ResultSet row) throws SQLException {
        Array columns = row.getArray(5);
        return new PublicationMember(
                row.getString(1),
                row.getLong(2),
                new TableName(row.getString(4), row.getString(3)),
                columns == null ? Optional.empty() : Optional.of(List.of((String[]) columns.getArray())),
                Optional.ofNullable(row.getString(6)));
    }
}
