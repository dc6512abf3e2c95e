package dev.pgapply.it;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/// 003_constraints: foreign keys are not enforced on the target, and triggers made for replicas fire.
final class Constraints003IT {

    private static Replication replication;
    private static EngineRun run;

    @BeforeAll
    static void start() {
        replication = Replication.newest();
        replication
                .source()
                .execute(
                        "CREATE TABLE parent (bid int PRIMARY KEY)",
                        "CREATE TABLE child (id int PRIMARY KEY, junk text, bid int REFERENCES parent)",
                        "CREATE TABLE orphan_parent (bid int PRIMARY KEY)",
                        "CREATE TABLE orphan (id int PRIMARY KEY, bid int REFERENCES orphan_parent)",
                        "CREATE TABLE guarded (id int PRIMARY KEY, bid int)");
        replication
                .target()
                .execute(
                        "CREATE TABLE parent (bid int PRIMARY KEY)",
                        "CREATE TABLE child (junk text, bid int REFERENCES parent, id int PRIMARY KEY)",
                        "CREATE TABLE orphan_parent (bid int PRIMARY KEY)",
                        "CREATE TABLE orphan (id int PRIMARY KEY, bid int REFERENCES orphan_parent)",
                        "CREATE TABLE guarded (id int PRIMARY KEY, bid int)",
                        """
                CREATE FUNCTION guard() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN
                    IF TG_OP = 'INSERT' AND NEW.id < 10 THEN
                        RETURN NEW;
                    END IF;
                    RETURN NULL;
                END $$
                """,
                        "CREATE TRIGGER guard_insert BEFORE INSERT ON guarded FOR EACH ROW EXECUTE FUNCTION guard()",
                        "CREATE TRIGGER guard_update BEFORE UPDATE OF bid ON guarded FOR EACH ROW EXECUTE FUNCTION guard()",
                        "ALTER TABLE guarded ENABLE REPLICA TRIGGER guard_insert",
                        "ALTER TABLE guarded ENABLE REPLICA TRIGGER guard_update");
        run = replication.engine();
        replication.awaitSeen();
    }

    @AfterAll
    static void stop() {
        try {
            run.close();
        } finally {
            replication.close();
        }
    }

    /// 003_constraints: #46
    @Test
    void childrenWithLargeValuesFollowTheirParents() {
        replication
                .source()
                .transaction(
                        "INSERT INTO parent VALUES (1)",
                        "INSERT INTO child (id, bid, junk) SELECT 1, 1, string_agg(md5(g::text), '') FROM generate_series(1, 500) g");
        replication.awaitSeen();
        replication.assertIdentical("parent", "child");
    }

    /// 003_constraints: #47
    @Test
    void foreignKeysOfTheTargetAreNotEnforced() {
        replication
                .source()
                .execute(
                        "DROP TABLE orphan_parent CASCADE",
                        "INSERT INTO orphan VALUES (1, 2), (2, 2)",
                        "DELETE FROM orphan WHERE id = 1");
        replication.awaitSeen();
        replication.assertIdentical("orphan");
        assertEquals(0, replication.target().count("orphan_parent"));
    }

    /// 003_constraints: #48, #49, #50
    @Test
    void replicaTriggersMayKeepChangesOut() {
        replication
                .source()
                .execute("INSERT INTO guarded VALUES (1, 1), (2, 2)", "INSERT INTO guarded VALUES (10, 10)");
        replication.awaitSeen();
        assertEquals(List.of("1 1", "2 2"), guardedRows());
        // A transaction that changes nothing must be confirmed too.
        replication.awaitApplied();
        replication.source().execute("UPDATE guarded SET bid = 5 WHERE id = 1");
        replication.awaitSeen();
        assertEquals(List.of("1 1", "2 2"), guardedRows());
        // All columns are sent and so all are set: a trigger of one column fires whichever has changed.
        replication.source().execute("UPDATE guarded SET id = 6 WHERE id = 2");
        replication.awaitSeen();
        assertEquals(List.of("1 1", "2 2"), guardedRows());
        run.assertRunning();
    }

    private static List<String> guardedRows() {
        return replication.target().queryAll("SELECT concat_ws(' ', id, bid) FROM guarded ORDER BY id");
    }
}
