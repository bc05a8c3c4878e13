package dev.gpuwarden.daemon.store;

import dev.gpuwarden.cli.UserError;
import java.sql.SQLException;
import java.util.List;

/** The tables of the store, and the checks of a file before it is opened. */
final class Schema {

    /** The application id that marks the file as a store: "gpuw". */
    private static final int APPLICATION = 0x67707577;

    private static final int VERSION = 3;

    private static final List<String> TABLES = List.of(
            """
            CREATE TABLE events (
                sequence INTEGER PRIMARY KEY, -- given by the store, rises by one, never reused
                id TEXT NOT NULL UNIQUE,
                telling BLOB NOT NULL UNIQUE, -- fingerprint of the content: a duplicate is stored once
                subject BLOB, -- of healthy events: fingerprint without message and time
                received INTEGER NOT NULL, -- microseconds since 1970, as all times here
                last_seen INTEGER NOT NULL,
                occurrences INTEGER NOT NULL,
                agent TEXT NOT NULL,
                component TEXT NOT NULL,
                check_name TEXT NOT NULL,
                node TEXT NOT NULL,
                healthy INTEGER NOT NULL,
                fatal INTEGER NOT NULL,
                action INTEGER NOT NULL, -- number of the wire
                codes TEXT NOT NULL, -- ["79"]
                entities TEXT NOT NULL, -- [["PCI","0000:3b:00"]]
                body TEXT NOT NULL -- the rest, as an object
            ) STRICT""",
            "CREATE INDEX events_subject ON events (subject) WHERE subject IS NOT NULL",
            """
            CREATE TABLE faults (
                agent TEXT NOT NULL,
                component TEXT NOT NULL,
                check_name TEXT NOT NULL,
                node TEXT NOT NULL,
                entity_type TEXT NOT NULL,
                entity TEXT NOT NULL,
                code TEXT NOT NULL,
                cause INTEGER NOT NULL, -- the event that raised it
                latest INTEGER NOT NULL, -- the event that counts its repetitions
                since INTEGER NOT NULL,
                last_seen INTEGER NOT NULL,
                occurrences INTEGER NOT NULL,
                PRIMARY KEY (agent, component, check_name, node, entity_type, entity, code)
            ) STRICT, WITHOUT ROWID""",
            // Fingerprints of events that were counted with another one: only the last ones, senders repeat themselves
            // soon.
            "CREATE TABLE repeats (number INTEGER PRIMARY KEY, telling BLOB NOT NULL UNIQUE) STRICT",
            """
            CREATE TABLE positions (
                source TEXT NOT NULL PRIMARY KEY, boot_id TEXT NOT NULL, cursor TEXT NOT NULL
            ) STRICT, WITHOUT ROWID""",
            """
            CREATE TABLE receivers (
                name TEXT NOT NULL PRIMARY KEY,
                acknowledged INTEGER NOT NULL, -- it has everything up to this event
                dropped INTEGER NOT NULL -- events deleted before it took them
            ) STRICT, WITHOUT ROWID""",
            "CREATE TABLE recordings (event INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT",
            // The greatest sequence ever given, kept when its event goes.
            "CREATE TABLE last_sequence (value INTEGER NOT NULL) STRICT");

    /** The tables added in version 2. */
    private static final List<String> SINCE_2 = List.of("""
            CREATE TABLE left_out ( -- events of which a fault found no room among the current ones
                event INTEGER PRIMARY KEY, agent TEXT NOT NULL, fatal INTEGER NOT NULL
            ) STRICT""", """
            CREATE TABLE gpus ( -- as they last reported themselves, by place
                pci TEXT NOT NULL PRIMARY KEY,
                gpu_index INTEGER NOT NULL,
                uuid TEXT NOT NULL,
                name TEXT, -- NULL if it was never reported
                serial TEXT
            ) STRICT, WITHOUT ROWID""");

    /** The table of faults with their reporters, in place of the one without. A primary key cannot be altered. */
    private static final List<String> SINCE_3 = List.of(
            "ALTER TABLE faults RENAME TO faults_2",
            """
            CREATE TABLE faults (
                agent TEXT NOT NULL,
                component TEXT NOT NULL,
                check_name TEXT NOT NULL,
                node TEXT NOT NULL,
                entity_type TEXT NOT NULL,
                entity TEXT NOT NULL,
                code TEXT NOT NULL,
                reporter TEXT NOT NULL, -- its kind; empty for gpuwarden itself
                cause INTEGER NOT NULL, -- the event that raised it
                latest INTEGER NOT NULL, -- the event that counts its repetitions
                since INTEGER NOT NULL,
                last_seen INTEGER NOT NULL,
                occurrences INTEGER NOT NULL,
                PRIMARY KEY (agent, component, check_name, node, entity_type, entity, code, reporter)
            ) STRICT, WITHOUT ROWID""",
            "INSERT INTO faults SELECT agent, component, check_name, node, entity_type, entity, code, '', cause, latest,"
                    + " since, last_seen, occurrences FROM faults_2",
            "DROP TABLE faults_2");

    private Schema() {}

    /**
     * Creates the tables in an empty file and returns whether the file was empty. Refuses files of other programs and
     * of newer versions.
     */
    static boolean prepare(Sql sql, String place, long lastSequence) throws SQLException {
        int application = (int) sql.number("PRAGMA application_id");
        int version = (int) sql.number("PRAGMA user_version");
        boolean empty = !sql.exists("SELECT 1 FROM sqlite_schema");
        if (!empty && application != APPLICATION) {
            throw new UserError("expected an event store at " + place + ", but it is a database of another program");
        }
        if (version > VERSION) {
            throw new UserError(
                    "the event store " + place + " is of version " + version + ", but this gpuwarden supports at most "
                            + VERSION + ": run the newer gpuwarden, or move the file away");
        }
        settings(sql, empty);
        if (empty) {
            sql.run("BEGIN");
            for (String table : TABLES) {
                sql.run(table);
            }
            sql.run("INSERT INTO last_sequence VALUES (" + lastSequence + ")");
            sql.run("PRAGMA application_id = " + APPLICATION);
        } else if (version < VERSION) {
            sql.run("BEGIN");
        } else {
            return false;
        }
        if (version < 2) {
            for (String table : SINCE_2) {
                sql.run(table);
            }
        }
        for (String step : SINCE_3) {
            sql.run(step);
        }
        sql.run("PRAGMA user_version = " + VERSION);
        sql.run("COMMIT");
        return empty;
    }

    private static void settings(Sql sql, boolean empty) throws SQLException {
        if (empty) {
            // Before the first page is written: later it would need a copy of the whole file.
            sql.run("PRAGMA auto_vacuum = INCREMENTAL");
        }
        sql.run("PRAGMA journal_mode = WAL");
        // NORMAL syncs at checkpoints only: an acknowledged event could be lost with the power.
        sql.run("PRAGMA synchronous = FULL");
        sql.run("PRAGMA journal_size_limit = 1048576");
        small(sql);
    }

    /** Limits a connection's memory: 256 KiB of cache, nothing mapped, no temporary files. */
    static void small(Sql sql) throws SQLException {
        sql.run("PRAGMA cache_size = -256");
        sql.run("PRAGMA mmap_size = 0");
        sql.run("PRAGMA temp_store = MEMORY");
        // A schema in a manipulated file must not call functions.
        sql.run("PRAGMA trusted_schema = OFF");
        sql.run("PRAGMA cell_size_check = ON");
    }

    /** Reads the whole file and returns what is wrong with it; empty if it is sound. */
    static String complaint(Sql sql) throws SQLException {
        String said =
                sql.first("PRAGMA quick_check(1)", row -> row.getString(1)).orElse("");
        return said.equals("ok") ? "" : said;
    }
}
