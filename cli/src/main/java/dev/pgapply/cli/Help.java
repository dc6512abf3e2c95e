package dev.pgapply.cli;

import dev.pgapply.cli.settings.Option;
import dev.pgapply.cli.settings.Option.Group;
import dev.pgapply.cli.settings.Option.Kind;
import java.util.List;
import java.util.Locale;

/// The list of options in `--help`: by paragraph, one line each.
final class Help {

    private Help() {}

    static String options(List<Option<?>> options) {
        StringBuilder text = new StringBuilder();
        for (Group group : Group.values()) {
            List<Option<?>> members =
                    options.stream().filter(option -> option.group() == group).toList();
            if (!members.isEmpty()) {
                text.append('\n').append(group.title()).append(":\n");
                members.forEach(option -> text.append(line(option)));
            }
        }
        return text.append(entry("  -h, --help", "show this text")).toString();
    }

    private static String line(Option<?> option) {
        String flags = option.flags().size() == 1 ? "      " + option.flag() : "  " + String.join(", ", option.flags());
        String fallback = option.kind() == Kind.SWITCH
                ? ""
                : option.shownFallback().map(text -> " (default: " + text + ")").orElse("");
        return entry((flags + " " + option.label()).stripTrailing(), option.description() + fallback);
    }

    private static String entry(String left, String right) {
        return String.format(Locale.ROOT, "%-42s%s%n", left, right);
    }
}
