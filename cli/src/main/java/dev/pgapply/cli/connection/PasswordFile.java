package dev.pgapply.cli.connection;

import dev.pgapply.schema.postgres.PostgresEndpoint.Host;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermission;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// A `.pgpass` file: lines of `host:port:database:user:password`, the first that fits is taken. As in `libpq`,
/// a file that others may read is left aside with a warning.
///
/// @see <a href="https://www.postgresql.org/docs/current/libpq-pgpass.html">The Password File</a>
final class PasswordFile {

    private static final Logger LOG = LoggerFactory.getLogger(PasswordFile.class);

    private static final Set<PosixFilePermission> OF_OTHERS = EnumSet.of(
            PosixFilePermission.GROUP_READ,
            PosixFilePermission.GROUP_WRITE,
            PosixFilePermission.GROUP_EXECUTE,
            PosixFilePermission.OTHERS_READ,
            PosixFilePermission.OTHERS_WRITE,
            PosixFilePermission.OTHERS_EXECUTE);

    private static final int FIELDS = 5;

    private final Path path;

    // It is asked for each connection; a warning for each would hide the other lines of a log.
    private final AtomicBoolean warned = new AtomicBoolean();

    PasswordFile(Path path) {
        this.path = path;
    }

    /// The password for the first of the hosts that has one.
    Optional<String> find(List<Host> hosts, String database, String user) {
        if (!usable()) {
            return Optional.empty();
        }
        List<List<Field>> entries = entries();
        for (Host host : hosts) {
            for (List<Field> entry : entries) {
                if (entry.get(0).fits(host.name())
                        && entry.get(1).fits(String.valueOf(host.port()))
                        && entry.get(2).fits(database)
                        && entry.get(3).fits(user)) {
                    return Optional.of(entry.get(4).text());
                }
            }
        }
        return Optional.empty();
    }

    private boolean usable() {
        if (!Files.exists(path)) {
            return false;
        }
        if (!Files.isRegularFile(path)) {
            warn("it is not a plain file");
            return false;
        }
        PosixFileAttributeView view = Files.getFileAttributeView(path, PosixFileAttributeView.class);
        try {
            if (view != null && view.readAttributes().permissions().stream().anyMatch(OF_OTHERS::contains)) {
                warn("others may read it; chmod 0600 mends that");
                return false;
            }
        } catch (IOException e) {
            warn(e.getClass().getSimpleName());
            return false;
        }
        return true;
    }

    private void warn(String reason) {
        if (!warned.getAndSet(true)) {
            LOG.warn("password file {} is left aside: {}", path, reason);
        }
    }

    private List<List<Field>> entries() {
        List<List<Field>> entries = new ArrayList<>();
        try {
            // Not readAllLines: one byte that is not UTF-8 must not hide every other entry.
            String content = new String(Files.readAllBytes(path), StandardCharsets.UTF_8);
            content.lines()
                    .filter(line -> !line.startsWith("#"))
                    .map(PasswordFile::fields)
                    .forEach(fields -> {
                        if (fields.size() >= FIELDS) {
                            entries.add(fields);
                        }
                    });
        } catch (IOException e) {
            warn(e.getClass().getSimpleName());
        }
        return entries;
    }

    private static List<Field> fields(String line) {
        List<Field> fields = new ArrayList<>();
        StringBuilder text = new StringBuilder();
        int start = 0;
        for (int i = 0; i < line.length(); i++) {
            char c = line.charAt(i);
            if (c == ':') {
                fields.add(new Field(text.toString(), line.substring(start, i).equals("*")));
                text.setLength(0);
                start = i + 1;
            } else if (c == '\\' && i + 1 < line.length()) {
                i++;
                text.append(line.charAt(i));
            } else {
                text.append(c);
            }
        }
        fields.add(new Field(text.toString(), false));
        return fields;
    }

    @Override
    public String toString() {
        return path.toString();
    }

    private record Field(String text, boolean any) {

        boolean fits(String value) {
            return any || text.equals(value);
        }

        @Override
        public String toString() {
            return "Field";
        }
    }
}
