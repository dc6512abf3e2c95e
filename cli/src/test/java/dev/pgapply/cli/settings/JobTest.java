package dev.pgapply.cli.settings;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pgapply.apply.Subscription;
import dev.pgapply.apply.Subscription.Binary;
import dev.pgapply.apply.Subscription.Copy;
import dev.pgapply.apply.Subscription.Origin;
import dev.pgapply.apply.Subscription.TargetRows;
import dev.pgapply.apply.Subscription.Until;
import dev.pgapply.apply.Subscription.Writer;
import dev.pgapply.cli.connection.ProcessEnvironment;
import dev.pgapply.decoder.Lsn;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class JobTest {

    private static final String SOURCE = "postgresql://app@db1/app";
    private static final String TARGET = "postgresql://app@db2/app";

    @TempDir
    private Path home;

    private final Map<String, List<String>> flags = new HashMap<>();
    private final Map<String, String> variables = new HashMap<>();

    @Test
    void nothingButTwoDatabasesIsNeeded() {
        both();
        Subscription subscription = job().subscription();
        assertEquals("app@db1:5432/app", subscription.source().toString());
        assertEquals("app@db2:5432/app", subscription.target().toString());
        assertEquals("pgapply_default", subscription.slotName());
        assertEquals(List.of(), subscription.publications());
        assertEquals(new Copy(true, TargetRows.REFUSE, 4), subscription.copy());
        assertEquals(Writer.DEFAULT, subscription.writer());
        assertEquals(Optional.empty(), subscription.until());
        assertEquals(Optional.empty(), subscription.retryFor());
        assertEquals(Duration.ofSeconds(30), subscription.slotWait());
        assertEquals(Duration.ofSeconds(10), subscription.refreshInterval());
        assertEquals(Binary.AUTO, subscription.binary());
        assertEquals(Origin.ANY, subscription.origin());
        assertFalse(subscription.failover() || subscription.allowTriggers());
    }

    @Test
    void everyOptionArrives() {
        both();
        flag("--name", "orders");
        flag("--publication", "p1,p2", "p3");
        flag("--slot", "s1");
        flag("--failover", "true");
        flag("--slot-wait", "1min");
        flag("--copy-data", "false");
        flag("--target-rows", "truncate");
        flag("--table-jobs", "8");
        flag("--until", "0/16B3748");
        flag("--retry-for", "30s");
        flag("--refresh-interval", "1h");
        flag("--binary", "off");
        flag("--origin", "none");
        flag("--grouping", "off");
        flag("--group-rows", "10");
        flag("--group-bytes", "1kB");
        flag("--group-age", "250ms");
        flag("--synchronous-commit", "on");
        flag("--allow-triggers", "true");
        Subscription subscription = job().subscription();
        assertEquals("orders", subscription.name());
        assertEquals(List.of("p1", "p2", "p3"), subscription.publications());
        assertEquals("s1", subscription.slotName());
        assertTrue(subscription.failover() && subscription.allowTriggers());
        assertEquals(Duration.ofMinutes(1), subscription.slotWait());
        assertEquals(new Copy(false, TargetRows.TRUNCATE, 8), subscription.copy());
        assertEquals(Optional.of(new Until.Position(Lsn.parse("0/16B3748"))), subscription.until());
        assertEquals(Optional.of(Duration.ofSeconds(30)), subscription.retryFor());
        assertEquals(Duration.ofHours(1), subscription.refreshInterval());
        assertEquals(Binary.OFF, subscription.binary());
        assertEquals(Origin.NONE, subscription.origin());
        assertEquals(new Writer(false, 10, 1024, Duration.ofMillis(250), true), subscription.writer());
    }

    @Test
    void flagsBeatTheEnvironmentAndTheEnvironmentBeatsTheFile() throws IOException {
        file("name: file\ntable_jobs: 2\nslot_wait: 2s\nsource: {url: '" + SOURCE + "'}\ntarget: '" + TARGET + "'\n");
        variables.putAll(Map.of("PGAPPLY_TABLE_JOBS", "3", "PGAPPLY_SLOT_WAIT", "3s", "PGAPPLY_FAILOVER", "true"));
        flag("--slot-wait", "4s");
        Subscription subscription = job().subscription();
        assertEquals("file", subscription.name());
        assertEquals(3, subscription.copy().tableJobs());
        assertEquals(Duration.ofSeconds(4), subscription.slotWait());
        assertTrue(subscription.failover());
        flag("--failover", "false");
        assertFalse(job().subscription().failover());
    }

    @Test
    void theEnvironmentAloneIsEnough() {
        variables.putAll(Map.of(
                "PGAPPLY_SOURCE_URI",
                SOURCE,
                "PGAPPLY_TARGET_URI",
                TARGET,
                "PGAPPLY_UNTIL",
                "now",
                "PGAPPLY_PUBLICATION",
                "p1, p2",
                "PGAPPLY_JAVA_OPTS",
                "-Xmx256m",
                "PGAPPLY_NO_BUILD",
                "1"));
        Subscription subscription = job().subscription();
        assertEquals(Optional.of(new Until.Now()), subscription.until());
        assertEquals(List.of("p1", "p2"), subscription.publications());
        assertEquals(Optional.of(Duration.ofMinutes(10)), subscription.retryFor());
    }

    @Test
    void aSourceMayBeDescribedByThePostgresVariablesAlone() {
        flag("--target", TARGET);
        variables.putAll(Map.of("PGHOST", "db9", "PGDATABASE", "app"));
        assertEquals("os@db9:5432/app", job().subscription().source().toString());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            --name             | Orders       | --name: expected 1 to 50 lower-case letters, digits and underscores
            --slot             | a-b          | --slot: expected 1 to 63 lower-case letters, digits and underscores
            --publication      | a,,b         | --publication: expected a name
            --slot-wait        | 30           | --slot-wait: expected a duration such as 30s or 10min (units us, ms, s, min, h, d)
            --group-bytes      | 8MiB         | --group-bytes: expected a size such as 64MB (units B, kB, MB, GB, TB)
            --group-bytes      | 0            | --group-bytes: expected a size larger than zero
            --group-rows       | 0            | --group-rows: expected a whole number from 1 to 2,147,483,647
            --table-jobs       | many         | --table-jobs: expected a whole number from 1 to 1,000
            --copy-data        | maybe        | --copy-data: expected true or false, on or off
            --target-rows      | drop         | --target-rows: expected one of refuse, truncate, keep
            --binary           | yes          | --binary: expected one of auto, on, off
            --grouping         | on           | --grouping: expected auto or off
            --until            | tomorrow     | --until: expected now or a position such as 16/B374D848
            --source           | db1          | --source: this is no connection string of a PostgreSQL database
            --target           | host=h sslmod=x | --target: unknown parameter sslmod; did you mean sslmode?
            """)
    void aValueThatDoesNotFitSaysWhatIsExpected(String flag, String value, String message) {
        both();
        flag(flag, value);
        assertEquals(message, messageOfFailure());
    }

    @Test
    void mistakesInFileAndEnvironmentNameTheirPlace() throws IOException {
        both();
        variables.put("PGAPPLY_TABLE_JOBS", "x");
        assertTrue(messageOfFailure().startsWith("PGAPPLY_TABLE_JOBS: expected"), messageOfFailure());
        variables.clear();
        file("name: ok\ngroup_age: x\n");
        assertTrue(
                messageOfFailure()
                        .endsWith("job.yml, line 2: group_age: expected a duration such as 30s or 10min"
                                + " (units us, ms, s, min, h, d)"),
                messageOfFailure());
    }

    @Test
    void unknownVariablesWithOurPrefixAreMistakes() {
        both();
        variables.put("PGAPPLY_TABEL_JOBS", "4");
        assertEquals(
                "unknown environment variable PGAPPLY_TABEL_JOBS; did you mean PGAPPLY_TABLE_JOBS?",
                messageOfFailure());
    }

    @Test
    void bothDatabasesMustBeGivenAndDiffer() {
        assertEquals("no source is given", messageOfFailure());
        flag("--source", SOURCE);
        assertEquals("no target is given", messageOfFailure());
        flag("--target", "host=db1 user=other dbname=app");
        assertEquals("source and target are the same database", messageOfFailure());
    }

    @Test
    void anOptionWithOneValueMayBeGivenOnce() {
        both();
        flag("--slot", "a", "b");
        assertEquals("--slot may be given only once", messageOfFailure());
    }

    @Test
    void passwordFilesOfTheConfigurationStartAtItsFolder() throws IOException {
        file("source: {url: '" + SOURCE + "', password_file: secret}\ntarget: '" + TARGET + "'\n");
        assertTrue(messageOfFailure().startsWith("source.password_file: "), messageOfFailure());
        Files.writeString(home.resolve("secret"), "hush\n");
        assertEquals(
                Optional.of("hush"), job().subscription().source().password().get());
    }

    @Test
    void aPasswordOnTheCommandLineIsWarnedOfWithoutRepeatingIt() {
        flag("--source", "postgresql://app:s3cr3t@db1/app");
        flag("--target", TARGET);
        String warning = job().warnings().getFirst();
        assertTrue(warning.contains(".pgpass") && warning.contains("PGAPPLY_SOURCE_URI"), warning);
        assertFalse(warning.contains("s3cr3t"), warning);
        flags.remove("--source");
        variables.put("PGAPPLY_SOURCE_URI", "postgresql://app:s3cr3t@db1/app");
        assertEquals(List.of(), job().warnings());
    }

    @Test
    void aRetryLimitWithoutAnEndIsWarnedOf() {
        both();
        flag("--retry-for", "1min");
        assertTrue(job().warnings().getFirst().startsWith("--retry-for has no effect without --until"));
    }

    private void both() {
        flag("--source", SOURCE);
        flag("--target", TARGET);
    }

    private void flag(String name, String... values) {
        flags.put(name, List.of(values));
    }

    private void file(String content) throws IOException {
        flag("--config", Files.writeString(home.resolve("job.yml"), content).toString());
    }

    private String messageOfFailure() {
        return String.valueOf(assertThrows(UsageException.class, this::job).getMessage());
    }

    private Job job() {
        return Job.of(Settings.collect(flags, variables), new ProcessEnvironment(variables, home, "os"));
    }
}
