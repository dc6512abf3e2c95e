package dev.pgapply.it;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pgapply.apply.ApplyException;
import dev.pgapply.apply.EngineEvent;
import dev.pgapply.apply.ErrorCode;
import dev.pgapply.apply.Subscription.Binary;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Field cases, group A: types and values.
final class ValuesAIT {

    /// Which tables are in the publication, and in which form their values travel.
    private enum Form {
        /// All in binary: every table allows it.
        BINARY(Binary.AUTO, true),
        /// Some tables are copied in binary; the stream is in text, since others forbid it.
        MIXED(Binary.AUTO, false),
        TEXT(Binary.OFF, false);

        final Binary binary;
        final boolean builtInOnly;

        Form(Binary binary, boolean builtInOnly) {
            this.binary = binary;
            this.builtInOnly = builtInOnly;
        }

        List<ValueCase> cases() {
            return ValueCases.ALL.stream()
                    .filter(one -> one.builtIn() || !builtInOnly)
                    .toList();
        }
    }

    /// B001, B003, B004, B005, B007, B008, B009, B010, B011, B012, B013, B015, B016, B017, B018, B019, B020,
    /// B021
    @ParameterizedTest
    @EnumSource
    void everyValueArrivesAsItIsByCopyByStreamAndInOldRows(Form form) {
        try (Replication replication = Replication.newest().with(setup -> setup.binary = form.binary)) {
            List<ValueCase> cases = form.cases();
            prepare(replication, cases);
            try (EngineRun run = replication.engine()) {
                replication.awaitApplied();
                assertEquals(form == Form.BINARY, streamsBinary(replication));
                cases.forEach(one -> source(replication, one.insert(one.streamed()), one.insert(one.keyless())));
                replication.awaitApplied();
                assertEach(cases, one -> assertSame(replication, one));
                for (ValueCase one : cases) {
                    one.tables().forEach(table -> replication.source().transaction(forSource(one.changes(table))));
                }
                replication.awaitApplied();
                assertEach(
                        cases, one -> replication.assertIdentical(one.tables().toArray(String[]::new)));
                replication.assertIdentical();
                assertEquals(List.of(), run.events(EngineEvent.ConflictSkipped.class));
            }
        }
    }

    private static void prepare(Replication replication, List<ValueCase> cases) {
        // Types of users have other OIDs on the target.
        replication.target().execute("CREATE TYPE spare_enum AS ENUM ()", "CREATE TYPE spare_row AS ()");
        for (ValueCase one : cases) {
            List<String> statements = new ArrayList<>(one.types());
            statements.addAll(one.createTables());
            source(replication, statements.toArray(String[]::new));
            replication
                    .target()
                    .execute(statements.stream()
                            .map(sql -> sql.replace(ValueCases.EXTENSIONS, "other"))
                            .toArray(String[]::new));
            source(replication, one.insert(one.copied()));
        }
        TestDatabase target = replication.target();
        target.execute("ALTER DATABASE " + target.name() + " SET search_path = ''");
        // B011, where the machine has such a locale.
        target.query("SELECT collcollate FROM pg_catalog.pg_collation WHERE collcollate ~* '^de_DE.utf-?8$'")
                .ifPresent(locale ->
                        target.execute("ALTER DATABASE " + target.name() + " SET lc_monetary = '" + locale + "'"));
    }

    private static void source(Replication replication, String... statements) {
        replication.source().execute(forSource(statements));
    }

    private static String[] forSource(String[] statements) {
        return java.util.Arrays.stream(statements)
                .map(sql -> sql.replace(ValueCases.EXTENSIONS, "ext"))
                .toArray(String[]::new);
    }

    private static boolean streamsBinary(Replication replication) {
        String sql = "SELECT query LIKE '%binary%' FROM pg_stat_activity WHERE backend_type = 'walsender'"
                + " AND query LIKE 'START_REPLICATION%' AND application_name = 'pgapply/" + replication.name() + "'";
        Await.until(
                "the stream has begun", () -> replication.source().query(sql).isPresent());
        return replication.source().query(sql).equals(Optional.of("t"));
    }

    /// The source's rows are there, and copy and stream have made the same of them.
    private static void assertSame(Replication replication, ValueCase one) {
        replication.assertIdentical(one.tables().toArray(String[]::new));
        String copied = "SELECT t::text FROM public." + one.copied() + " t";
        String streamed = "SELECT t::text FROM public." + one.streamed() + " t";
        assertEquals(
                List.of(),
                replication
                        .target()
                        .queryAll("(" + copied + " EXCEPT ALL " + streamed + ") UNION ALL (" + streamed + " EXCEPT ALL "
                                + copied + ")"));
    }

    private static void assertEach(List<ValueCase> cases, Consumer<ValueCase> assertion) {
        assertAll(cases.stream().map(one -> (Executable) () -> {
            try {
                assertion.accept(one);
            } catch (AssertionError | RuntimeException e) {
                throw new AssertionError(one.id() + " " + one.name() + ": " + e.getMessage(), e);
            }
        }));
    }

    /// B003, B004
    @Test
    void noZoneOfTheJvmMovesAValue() {
        try (Replication replication = Replication.newest()) {
            List<ValueCase> cases = ValueCases.ALL.stream()
                    .filter(one -> List.of("B003", "B004", "B005").contains(one.id()))
                    .toList();
            cases.forEach(one -> {
                replication.both(one.createTables().toArray(String[]::new));
                replication.source().execute(one.insert(one.copied()));
            });
            applyInZone(replication, "Asia/Shanghai");
            cases.forEach(one -> replication.source().execute(one.insert(one.streamed())));
            applyInZone(replication, "America/New_York");
            cases.forEach(one -> replication.source().execute(one.insert(one.keyless())));
            // Java knows it, the server does not.
            applyInZone(replication, "VST");
            assertEach(cases, one -> assertSame(replication, one));
        }
    }

    private static void applyInZone(Replication replication, String zone) {
        List<String> arguments = List.of(
                "run",
                "--name",
                replication.name(),
                "--source",
                replication.source().uri(),
                "--target",
                replication.target().uri(),
                "--until",
                "now");
        Map<String, String> environment =
                Map.of("PGAPPLY_JAVA_OPTS", "-Duser.timezone=" + zone, "PGAPPLY_TIER", "1", "TZ", zone);
        try (Launcher run = Launcher.start(arguments, environment)) {
            assertEquals(0, run.awaitExit(), run::stderr);
        }
    }

    /// B021: `regclass` travels as a name.
    @Test
    void theNameOfAnObjectThatTheTargetLacksStopsTheRun() {
        try (Replication replication = Replication.newest()) {
            replication.both("CREATE TABLE named (id int PRIMARY KEY, g regclass)");
            try (EngineRun run = replication.engine()) {
                replication.awaitApplied();
                replication
                        .source()
                        .execute("CREATE VIEW only_here AS SELECT 1", "INSERT INTO named VALUES (1, 'only_here')");
                ApplyException failure = run.awaitFailure();
                assertEquals(ErrorCode.CHANGE_REJECTED, failure.code(), failure::getMessage);
            }
            replication.target().execute("CREATE VIEW only_here AS SELECT 1");
            replication.applyUntilNow();
            replication.assertIdentical();
        }
    }
}
