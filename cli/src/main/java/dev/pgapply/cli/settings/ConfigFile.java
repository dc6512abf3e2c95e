package dev.pgapply.cli.settings;

import dev.pgapply.cli.text.Nearest;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Compose;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;

/// A YAML file of settings: every value as text with its line, keys checked, `${NAME}` replaced from the
/// environment.
///
/// Only the structure is taken from YAML: a value is what is written, so that `on`, `64MB` and `0/16B3748` mean
/// the same here as in a flag.
final class ConfigFile {

    private static final Pattern REFERENCE = Pattern.compile("\\$\\$\\{|\\$\\{([A-Za-z_][A-Za-z0-9_]*)}");
    private static final Pattern PLAIN_KEY = Pattern.compile("[A-Za-z0-9_.-]{1,40}");

    /// Keys that only the file has.
    static final String SOURCE_PASSWORD_FILE = "source.password_file";
    static final String TARGET_PASSWORD_FILE = "target.password_file";

    private final String name;
    private final Map<String, String> variables;
    private final Map<String, Entry> entries = new TreeMap<>();

    private ConfigFile(String name, Map<String, String> variables) {
        this.name = name;
        this.variables = variables;
    }

    /// A setting of the file.
    ///
    /// @param where file and line, for messages
    record Entry(List<String> values, String where) {}

    /// @throws UsageException if the file cannot be read, is not YAML, or has a key that is not known
    static Map<String, Entry> read(Path file, Map<String, String> variables) {
        try {
            return parse(Files.readString(file, StandardCharsets.UTF_8), file.toString(), variables);
        } catch (IOException e) {
            throw new UsageException("the configuration file " + file + " cannot be read: "
                    + e.getClass().getSimpleName());
        }
    }

    static Map<String, Entry> parse(String text, String name, Map<String, String> variables) {
        ConfigFile file = new ConfigFile(name, variables);
        file.root(text).ifPresent(node -> {
            for (NodeTuple setting : file.mapping(node, "the file").getValue()) {
                file.topLevel(setting);
            }
        });
        return file.entries;
    }

    private Optional<Node> root(String text) {
        LoadSettings settings = LoadSettings.builder().setLabel(name).build();
        try {
            Iterator<Node> documents =
                    new Compose(settings).composeAllFromString(text).iterator();
            if (!documents.hasNext()) {
                return Optional.empty();
            }
            Node root = documents.next();
            if (documents.hasNext()) {
                throw new UsageException(name + " has more than one YAML document");
            }
            return Optional.of(root);
        } catch (MarkedYamlEngineException e) {
            throw notYaml(e);
        } catch (YamlEngineException e) {
            throw new UsageException(name + " is not YAML");
        }
    }

    // The parser's own message quotes the line, and the line may hold a password.
    private UsageException notYaml(MarkedYamlEngineException e) {
        String where = e.getProblemMark()
                .map(mark -> ", line " + (mark.getLine() + 1) + ", column " + (mark.getColumn() + 1))
                .orElse("");
        return new UsageException(
                name + where + ": this is not YAML",
                "Look at indentation and tabs; put a value with special characters between single quotes.");
    }

    private void topLevel(NodeTuple setting) {
        String key = key(setting.getKeyNode());
        boolean block = key.equals("source") || key.equals("target");
        if (block && setting.getValueNode() instanceof MappingNode nested) {
            for (NodeTuple inner : nested.getValue()) {
                put(key + "." + key(inner.getKeyNode()), inner, nestedKeys(key));
            }
        } else {
            put(key, setting, topLevelKeys());
        }
    }

    private void put(String key, NodeTuple setting, Map<String, String> known) {
        String where = where(setting.getKeyNode());
        String canonical = known.get(key);
        if (canonical == null) {
            String shown = PLAIN_KEY.matcher(key).matches() ? " " + key : "";
            throw new UsageException(
                    where + ": unknown key" + shown + "; did you mean " + Nearest.to(key, known.keySet()) + "?");
        }
        Entry earlier = entries.put(canonical, new Entry(values(setting.getValueNode(), key), where));
        if (earlier != null) {
            throw new UsageException(where + ": " + key + " was already set in " + earlier.where());
        }
    }

    private List<String> values(Node node, String key) {
        List<String> values = new ArrayList<>();
        Collection<Node> nodes = node instanceof SequenceNode sequence ? sequence.getValue() : List.of(node);
        for (Node value : nodes) {
            if (!(value instanceof ScalarNode scalar)) {
                throw new UsageException(where(value) + ": " + key + " needs a plain value");
            }
            if (scalar.getValue().isEmpty()) {
                throw new UsageException(where(value) + ": " + key + " has no value");
            }
            values.add(expanded(scalar));
        }
        return values;
    }

    private String expanded(ScalarNode node) {
        Matcher matcher = REFERENCE.matcher(node.getValue());
        StringBuilder text = new StringBuilder();
        while (matcher.find()) {
            String variable = matcher.group(1);
            String value = variable == null ? "${" : variables.get(variable);
            if (value == null) {
                throw new UsageException(where(node) + ": the environment has no variable " + variable);
            }
            matcher.appendReplacement(text, Matcher.quoteReplacement(value));
        }
        return matcher.appendTail(text).toString();
    }

    private MappingNode mapping(Node node, String what) {
        if (node instanceof MappingNode mapping) {
            return mapping;
        }
        throw new UsageException(where(node) + ": " + what + " needs keys with values");
    }

    private String key(Node node) {
        if (node instanceof ScalarNode scalar) {
            return scalar.getValue();
        }
        throw new UsageException(where(node) + ": a key must be a plain word");
    }

    private String where(Node node) {
        return name
                + node.getStartMark()
                        .map(Mark::getLine)
                        .map(line -> ", line " + (line + 1))
                        .orElse("");
    }

    private static Map<String, String> topLevelKeys() {
        Map<String, String> keys = new HashMap<>();
        for (Option<?> option : Options.all()) {
            if (!option.equals(Options.CONFIG)) {
                keys.put(option.flatKey(), option.key());
            }
        }
        return keys;
    }

    private static Map<String, String> nestedKeys(String block) {
        Map<String, String> keys = new HashMap<>();
        for (Option<?> option : Options.all()) {
            if (option.key().startsWith(block + ".")) {
                keys.put(option.key(), option.key());
            }
        }
        String passwordFile = block + ".password_file";
        keys.put(passwordFile, passwordFile);
        return keys;
    }
}
