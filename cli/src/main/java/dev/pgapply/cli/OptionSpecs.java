package dev.pgapply.cli;

import dev.pgapply.cli.settings.Option;
import dev.pgapply.cli.settings.Option.Kind;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.UsageMessageSpec;
import picocli.CommandLine.ParseResult;

/// The options of a verb on the command line.
final class OptionSpecs {

    private OptionSpecs() {}

    /// Gives the verb these options, and their help.
    static void add(List<Option<?>> options, CommandSpec spec) {
        for (Option<?> option : options) {
            OptionSpec.Builder builder = OptionSpec.builder(option.flags().toArray(String[]::new))
                    .type(List.class)
                    .auxiliaryTypes(String.class);
            spec.addOption(
                    option.kind() == Kind.SWITCH
                            ? builder.arity("0..1").fallbackValue("true").build()
                            : builder.arity("1").build());
        }
        spec.addOption(OptionSpec.builder("-h", "--help").usageHelp(true).build());
        spec.usageMessage().sectionMap().put(UsageMessageSpec.SECTION_KEY_OPTION_LIST, help -> Help.options(options));
    }

    /// The values that were given, by flag.
    static Map<String, List<String>> given(List<Option<?>> options, ParseResult parsed) {
        Map<String, List<String>> flags = new HashMap<>();
        for (Option<?> option : options) {
            List<String> values = parsed.matchedOptionValue(option.flag(), List.of());
            if (!values.isEmpty()) {
                flags.put(option.flag(), values);
            }
        }
        return flags;
    }
}
