package dev.pgapply.decoder;

import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.StringJoiner;
import java.util.stream.Collectors;

/// Messages as lines of text, with all that they say.
public final class MessageText {

    private static final int LONGEST = 60;

    private MessageText() {}

    public static String of(PgOutputMessage message) {
        return switch (message) {
            case PgOutputMessage.Begin m ->
                "Begin finalLsn=%s commitTime=%s xid=%d".formatted(m.finalLsn(), m.commitTime(), m.xid());
            case PgOutputMessage.Commit m ->
                "Commit commitLsn=%s endLsn=%s commitTime=%s".formatted(m.commitLsn(), m.endLsn(), m.commitTime());
            case PgOutputMessage.Origin m -> "Origin commitLsn=%s %s".formatted(m.commitLsn(), quote(m.name()));
            case PgOutputMessage.RelationMessage m -> "Relation " + relation(m.relation());
            case PgOutputMessage.TypeMessage m -> "Type %d %s.%s".formatted(m.oid(), m.namespace(), m.name());
            case PgOutputMessage.Insert m -> "Insert %d %s".formatted(m.relationOid(), newRow(m.newRow()));
            case PgOutputMessage.Update m ->
                "Update %d %s%s".formatted(m.relationOid(), oldRow(m.oldRow()), newRow(m.newRow()));
            case PgOutputMessage.Delete m ->
                "Delete %d %s"
                        .formatted(
                                m.relationOid(), oldRow(Optional.of(m.oldRow())).strip());
            case PgOutputMessage.Truncate m ->
                "Truncate %s%s%s"
                        .formatted(
                                m.relationOids(),
                                m.cascade() ? " cascade" : "",
                                m.restartIdentity() ? " restart identity" : "");
            case PgOutputMessage.LogicalMessage m ->
                "Message %slsn=%s %s %s"
                        .formatted(
                                m.transactional() ? "transactional " : "",
                                m.lsn(),
                                quote(m.prefix()),
                                hex(m.content()));
            case PgOutputMessage.StreamStart m ->
                "StreamStart xid=%d%s".formatted(m.xid(), m.firstSegment() ? " first" : "");
            case PgOutputMessage.StreamStop m -> "StreamStop";
            case PgOutputMessage.Streamed m -> "[xid %d] %s".formatted(m.xid(), of(m.message()));
            case PgOutputMessage.StreamCommit m ->
                "StreamCommit xid=%d commitLsn=%s endLsn=%s commitTime=%s"
                        .formatted(m.xid(), m.commitLsn(), m.endLsn(), m.commitTime());
            case PgOutputMessage.StreamAbort m ->
                "StreamAbort xid=%d subxid=%d%s"
                        .formatted(
                                m.xid(),
                                m.subxid(),
                                m.abort()
                                        .map(a -> " lsn=%s time=%s".formatted(a.lsn(), a.time()))
                                        .orElse(""));
            case PgOutputMessage.BeginPrepare m ->
                "BeginPrepare prepareLsn=%s endLsn=%s prepareTime=%s xid=%d gid=%s"
                        .formatted(m.prepareLsn(), m.endLsn(), m.prepareTime(), m.xid(), quote(m.gid()));
            case PgOutputMessage.Prepare m ->
                "Prepare prepareLsn=%s endLsn=%s prepareTime=%s xid=%d gid=%s"
                        .formatted(m.prepareLsn(), m.endLsn(), m.prepareTime(), m.xid(), quote(m.gid()));
            case PgOutputMessage.CommitPrepared m ->
                "CommitPrepared commitLsn=%s endLsn=%s commitTime=%s xid=%d gid=%s"
                        .formatted(m.commitLsn(), m.endLsn(), m.commitTime(), m.xid(), quote(m.gid()));
            case PgOutputMessage.RollbackPrepared m ->
                "RollbackPrepared prepareEndLsn=%s rollbackEndLsn=%s prepareTime=%s rollbackTime=%s xid=%d gid=%s"
                        .formatted(
                                m.prepareEndLsn(),
                                m.rollbackEndLsn(),
                                m.prepareTime(),
                                m.rollbackTime(),
                                m.xid(),
                                quote(m.gid()));
            case PgOutputMessage.StreamPrepare m ->
                "StreamPrepare prepareLsn=%s endLsn=%s prepareTime=%s xid=%d gid=%s"
                        .formatted(m.prepareLsn(), m.endLsn(), m.prepareTime(), m.xid(), quote(m.gid()));
        };
    }

    private static String relation(Relation relation) {
        return "%d %s %s (%s)"
                .formatted(
                        relation.oid(),
                        relation.name(),
                        relation.identity(),
                        relation.columns().stream().map(MessageText::column).collect(Collectors.joining(", ")));
    }

    private static String column(Relation.Column column) {
        return "%s%s %d %d".formatted(column.key() ? "key " : "", column.name(), column.typeOid(), column.typmod());
    }

    private static String newRow(NewRow row) {
        return switch (row) {
            case NewRow.Full full -> "full " + values(full.row());
            case NewRow.Partial partial -> "partial " + values(partial.row());
        };
    }

    private static String oldRow(Optional<OldRow> row) {
        return row.map(old -> switch (old) {
                    case OldRow.Key key -> "old key " + values(key.row()) + " ";
                    case OldRow.Full full -> "old full " + values(full.row()) + " ";
                })
                .orElse("");
    }

    /// The values of a row in parentheses.
    public static String values(Row row) {
        StringJoiner values = new StringJoiner(", ", "(", ")");
        for (int i = 0; i < row.columnCount(); i++) {
            values.add(
                    switch (row.value(i)) {
                        case Value.Null ignored -> "null";
                        case Value.Unchanged ignored -> "unchanged";
                        case Value.Text text -> quote(text.bytes().utf8());
                        case Value.Binary binary -> hex(binary.bytes());
                    });
        }
        return values.toString();
    }

    /// `\` escapes control characters, so that one message stays one line.
    private static String quote(String text) {
        String shown = text.length() <= LONGEST ? text : text.substring(0, 10) + "… " + text.length() + " characters";
        return List.of("\\", "\n", "\t").stream()
                .reduce(
                        "'" + shown + "'",
                        (t, c) -> t.replace(
                                c,
                                switch (c) {
                                    case "\n" -> "\\n";
                                    case "\t" -> "\\t";
                                    default -> "\\\\";
                                }));
    }

    private static String hex(Bytes bytes) {
        String shown = HexFormat.of().formatHex(bytes.toByteArray());
        return "x'" + (shown.length() <= 2 * LONGEST ? shown : shown.substring(0, 20) + "… " + bytes) + "'";
    }
}
