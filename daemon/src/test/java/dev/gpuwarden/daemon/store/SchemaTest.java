package dev.gpuwarden.daemon.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.SQLException;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class SchemaTest extends StoreFixture {

    /** NORMAL would let the power take events that were acknowledged; no kill shows that. */
    @Test
    void everyCommitIsSynced() throws SQLException {
        store();
        close();
        try (Session session = Session.open(file().toString(), Duration.ofHours(1), 0)) {
            Sql sql = session.sql();
            assertThat(sql.number("PRAGMA synchronous")).isEqualTo(2);
            assertThat(sql.first("PRAGMA journal_mode", row -> row.getString(1)))
                    .contains("wal");
            assertThat(sql.number("PRAGMA auto_vacuum")).isEqualTo(2);
            assertThat(sql.number("PRAGMA cache_size")).isEqualTo(-256);
            assertThat(sql.number("PRAGMA mmap_size")).isZero();
        }
    }

    @Test
    void theFileIsNotReadableByOthers() throws Exception {
        store();
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file())))
                .isEqualTo("rw-r-----");
    }

    @Test
    void aNewStoreNeverRepeatsSequenceNumbers() {
        store().accept(Events.xid("79", 1));
        assertThat(store().status().lastSequence()).isEqualTo(clock.instant().getEpochSecond() * 1000 + 1);
    }

    @Test
    void aStoreOfTheFirstVersionGetsWhatCameLaterAndLosesNothing() throws SQLException {
        store().accept(Events.xid("79", 1));
        close();
        try (Sql sql = Sql.open(file().toString())) {
            sql.run("DROP TABLE left_out");
            sql.run("DROP TABLE gpus");
            withoutReporters(sql);
            sql.run("PRAGMA user_version = 1");
        }
        assertThat(store().faults()).hasSize(2);
        assertThat(store().leftOut().isEmpty()).isTrue();
    }

    @Test
    void faultsOfTheSecondVersionStayCurrentAndHaveNoReporter() throws SQLException {
        store().accept(Events.xid("79", 1));
        close();
        try (Sql sql = Sql.open(file().toString())) {
            withoutReporters(sql);
            sql.run("PRAGMA user_version = 2");
        }
        assertThat(store().faults())
                .hasSize(2)
                .allMatch(fault -> fault.key().reporter().isEmpty());
        store().accept(Events.healthy(2));
        assertThat(store().faults()).isEmpty();
    }

    private static void withoutReporters(Sql sql) throws SQLException {
        sql.run("ALTER TABLE faults RENAME TO now");
        sql.run(
                "CREATE TABLE faults (agent TEXT NOT NULL, component TEXT NOT NULL, check_name TEXT NOT NULL,"
                        + " node TEXT NOT NULL, entity_type TEXT NOT NULL, entity TEXT NOT NULL, code TEXT NOT NULL,"
                        + " cause INTEGER NOT NULL, latest INTEGER NOT NULL, since INTEGER NOT NULL,"
                        + " last_seen INTEGER NOT NULL, occurrences INTEGER NOT NULL,"
                        + " PRIMARY KEY (agent, component, check_name, node, entity_type, entity, code)) STRICT, WITHOUT ROWID");
        sql.run("INSERT INTO faults SELECT agent, component, check_name, node, entity_type, entity, code, cause,"
                + " latest, since, last_seen, occurrences FROM now");
        sql.run("DROP TABLE now");
    }
}
