package dev.pgapply.cli.output;

import dev.pgapply.decoder.Lsn;
import dev.pgapply.schema.postgres.SlotFacts;
import dev.pgapply.schema.postgres.SubscriptionStatus;
import dev.pgapply.schema.postgres.TableStates.State;
import java.time.Instant;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/// A job's status for people and for programs.
///
/// @param slot as the source has it; empty if it has none of that name
/// @param source the end of the source's log that is on disk
public record StatusText(
        String name, SubscriptionStatus status, String slotName, Optional<SlotFacts> slot, Lsn source) {

    /// Aligned lines.
    public String text() {
        Table table = new Table();
        table.row("running", status.running() ? "yes" : "no");
        table.row(
                "progress",
                status.progress()
                        + status.commitTime().map(time -> ", committed " + time).orElse(""));
        table.row("source", source + ", " + bytes(behindBytes()) + " ahead of what is confirmed");
        table.row("slot", slotName + ", " + slotText());
        table.row("tables", status.tables().isEmpty() ? "none" : counts());
        table.row("prepared", String.valueOf(status.prepared().size()));
        String prepared = status.prepared().stream()
                .map(one -> "\n    " + one.gid() + ", " + one.age().toSeconds() + " s ago")
                .collect(Collectors.joining());
        return "subscription " + name + "\n" + table + prepared;
    }

    private String slotText() {
        return slot.map(found -> (found.activePid().isPresent() ? "active" : "not active") + ", confirmed "
                        + found.confirmedFlushLsn().orElse(Lsn.INVALID)
                        + found.walStatus().map(words -> ", log " + words).orElse(""))
                .orElse("does not exist");
    }

    private String counts() {
        return status.tables().entrySet().stream()
                .map(entry -> entry.getValue() + " " + word(entry.getKey()))
                .collect(Collectors.joining(", "));
    }

    private static String word(State state) {
        return state.name().toLowerCase(Locale.ROOT);
    }

    private long behindBytes() {
        Lsn confirmed = slot.flatMap(SlotFacts::confirmedFlushLsn).orElse(status.confirmed());
        return source.isAfter(confirmed) ? source.value() - confirmed.value() : 0;
    }

    private static String bytes(long bytes) {
        return bytes < 1 << 20
                ? (bytes + 1023) / 1024 + " kB"
                : String.format(Locale.ROOT, "%.1f MB", bytes / 1_048_576.0);
    }

    /// One JSON object; positions as PostgreSQL writes them, times as in ISO 8601, ages in seconds.
    public String json() {
        return String.format(
                Locale.ROOT,
                "{\"name\":%s,\"running\":%b,\"progress\":%s,\"commit_time\":%s,\"confirmed\":%s,\"source\":%s,"
                        + "\"behind_bytes\":%d,\"slot\":{\"name\":%s,\"exists\":%b,\"active\":%b},\"tables\":{%s},"
                        + "\"prepared\":[%s]}",
                quoted(name),
                status.running(),
                quoted(status.progress().toString()),
                status.commitTime()
                        .map(Instant::toString)
                        .map(StatusText::quoted)
                        .orElse("null"),
                quoted(status.confirmed().toString()),
                quoted(source.toString()),
                behindBytes(),
                quoted(slotName),
                slot.isPresent(),
                slot.filter(found -> found.activePid().isPresent()).isPresent(),
                status.tables().entrySet().stream().map(StatusText::count).collect(Collectors.joining(",")),
                status.prepared().stream()
                        .map(one -> String.format(
                                Locale.ROOT,
                                "{\"gid\":%s,\"age_seconds\":%.3f}",
                                quoted(one.gid()),
                                one.age().toMillis() / 1_000.0))
                        .collect(Collectors.joining(",")));
    }

    private static String count(Map.Entry<State, Integer> entry) {
        return quoted(word(entry.getKey())) + ":" + entry.getValue();
    }

    /// Names here are letters, digits and underscores; what else may come is escaped.
    private static String quoted(String text) {
        return "\"" + text.replace("\\", "\\\\").replace("\"", "\\\"") + "\"";
    }
}
