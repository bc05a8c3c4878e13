package dev.gpuwarden.daemon.store;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.sql.SQLException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A read-only connection beside the writer, opened on the first query. Thread-safe. */
final class StoreReader {

    private final DatabaseFile place;
    private final Consumer<SQLException> onCorrupt;
    private @Nullable Sql sql;
    private boolean used;

    StoreReader(DatabaseFile place, Consumer<SQLException> onCorrupt) {
        this.place = place;
        this.onCorrupt = onCorrupt;
    }

    /** A query of the database. */
    interface Query<T> {
        T run(Sql sql) throws SQLException;
    }

    synchronized <T> T read(Query<T> query) {
        try {
            used = true;
            return query.run(open());
        } catch (SQLException e) {
            close();
            if (Sql.ErrorKind.of(e) == Sql.ErrorKind.CORRUPT) {
                onCorrupt.accept(e);
            }
            throw new UncheckedIOException(new IOException("the event store cannot be read: " + e.getMessage(), e));
        }
    }

    /** Runs the query on an empty store: the daemon has not been able to open its own yet. */
    static <T> T readNothing(Query<T> query) {
        try (Sql empty = Sql.open(StoreSettings.MEMORY.toString())) {
            var unused = Schema.prepare(empty, "memory", 0);
            return query.run(empty);
        } catch (SQLException e) {
            throw new UncheckedIOException(new IOException(e));
        }
    }

    private Sql open() throws SQLException {
        Sql opened = sql;
        if (opened == null) {
            opened = Sql.open(place.name());
            sql = opened;
            Schema.small(opened);
            opened.run("PRAGMA query_only = ON");
        }
        return opened;
    }

    /** Closes the connection if no query has used it since the last call. */
    synchronized void closeIfUnused() {
        if (!used) {
            close();
        }
        used = false;
    }

    synchronized void close() {
        if (sql != null) {
            try {
                sql.close();
            } catch (SQLException e) {
                System.getLogger(StoreReader.class.getName())
                        .log(System.Logger.Level.DEBUG, "closing a reader failed", e);
            }
            sql = null;
        }
    }
}
