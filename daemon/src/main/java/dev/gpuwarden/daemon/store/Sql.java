package dev.gpuwarden.daemon.store;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.sqlite.JDBC;

/** A connection and its prepared statements. For one thread at a time. */
final class Sql implements AutoCloseable {

    /** The wait for a lock that another program, such as a SQLite shell, holds on the file. */
    private static final int BUSY_MILLIS = 2000;

    /** Enough for the writer's statements and the usual combinations of filters. */
    private static final int MOST_STATEMENTS = 48;

    private final Connection connection;
    /** Statements in the order of their last use. */
    private final Map<String, PreparedStatement> statements = new LinkedHashMap<>(64, 0.75f, true);

    private boolean transactional;
    private boolean begun;

    private Sql(Connection connection) {
        this.connection = connection;
    }

    /** A reader of one row. */
    interface Row<T> {
        T read(ResultSet row) throws SQLException;
    }

    /** @param place a file's absolute path, or `:memory:` */
    static Sql open(String place) throws SQLException {
        Properties properties = new Properties();
        properties.setProperty("busy_timeout", String.valueOf(BUSY_MILLIS));
        return new Sql(JDBC.createConnection(JDBC.PREFIX + place, properties));
    }

    /** Begins a transaction with the next statement, and another one after each {@link #commit}. */
    void transactions() {
        transactional = true;
    }

    void commit() throws SQLException {
        if (begun) {
            execute("COMMIT");
            begun = false;
        }
    }

    /** Takes the lock for writing first. SQLite waits for it only here: after a read it refuses it immediately. */
    private void begin() throws SQLException {
        if (transactional && !begun) {
            execute("BEGIN IMMEDIATE");
            begun = true;
        }
    }

    /** Runs statements without a result. */
    void run(String sql) throws SQLException {
        begin();
        execute(sql);
    }

    private void execute(String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.executeUpdate(sql);
        }
    }

    /** Runs a statement and returns the number of changed rows. */
    int update(String sql, @Nullable Object... values) throws SQLException {
        return prepared(sql, values).executeUpdate();
    }

    <T> List<T> list(String sql, Row<T> row, @Nullable Object... values) throws SQLException {
        return listWhile(sql, row, any -> true, values);
    }

    /** Returns rows up to the first one for which {@code more} returns false. */
    <T> List<T> listWhile(String sql, Row<T> row, Predicate<T> more, @Nullable Object... values) throws SQLException {
        List<T> all = new ArrayList<>();
        try (ResultSet rows = prepared(sql, values).executeQuery()) {
            boolean goOn = true;
            while (goOn && rows.next()) {
                T one = row.read(rows);
                all.add(one);
                goOn = more.test(one);
            }
        }
        return all;
    }

    /** A consumer of one row. */
    interface RowTaker {
        void take(ResultSet row) throws SQLException;
    }

    /** Passes rows to a consumer one by one, for results that may not fit into memory. */
    void forEach(String sql, RowTaker taker, @Nullable Object... values) throws SQLException {
        try (ResultSet rows = prepared(sql, values).executeQuery()) {
            while (rows.next()) {
                taker.take(rows);
            }
        }
    }

    <T> Optional<T> first(String sql, Row<T> row, @Nullable Object... values) throws SQLException {
        try (ResultSet rows = prepared(sql, values).executeQuery()) {
            return rows.next() ? Optional.of(row.read(rows)) : Optional.empty();
        }
    }

    /** Returns the only value; 0 if there is none. */
    long number(String sql, @Nullable Object... values) throws SQLException {
        return first(sql, row -> row.getLong(1), values).orElse(0L);
    }

    boolean exists(String sql, @Nullable Object... values) throws SQLException {
        return first(sql, row -> true, values).isPresent();
    }

    private PreparedStatement prepared(String sql, @Nullable Object... values) throws SQLException {
        begin();
        PreparedStatement statement = statements.get(sql);
        if (statement == null) {
            if (statements.size() == MOST_STATEMENTS) {
                Iterator<PreparedStatement> oldest = statements.values().iterator();
                oldest.next().close();
                oldest.remove();
            }
            statement = connection.prepareStatement(sql);
            statements.put(sql, statement);
        }
        for (int i = 0; i < values.length; i++) {
            bind(statement, i + 1, values[i]);
        }
        return statement;
    }

    private static void bind(PreparedStatement statement, int index, @Nullable Object value) throws SQLException {
        if (value instanceof Long number) {
            statement.setLong(index, number);
        } else if (value instanceof Integer number) {
            statement.setInt(index, number);
        } else if (value instanceof Boolean bool) {
            statement.setInt(index, bool ? 1 : 0);
        } else if (value instanceof String text) {
            statement.setString(index, text);
        } else if (value instanceof byte[] bytes) {
            statement.setBytes(index, bytes);
        } else if (value == null) {
            statement.setNull(index, java.sql.Types.NULL);
        } else {
            throw new IllegalArgumentException("no column holds a " + value.getClass());
        }
    }

    /** Returns a time as the store keeps it: microseconds since 1970. */
    static long micros(Instant time) {
        return ChronoUnit.MICROS.between(Instant.EPOCH, time);
    }

    /** Returns the same for a time that a request names, which may lie beyond the range of a long. */
    static long clampedMicros(Instant time) {
        try {
            return micros(time);
        } catch (ArithmeticException e) {
            return time.isBefore(Instant.EPOCH) ? Long.MIN_VALUE : Long.MAX_VALUE;
        }
    }

    static Instant instant(long micros) {
        return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
    }

    @Override
    public void close() throws SQLException {
        connection.close();
    }

    /** The kind of a database error, which decides on the reaction. Numbers are SQLite's primary result codes (sqlite3.h). */
    enum ErrorKind {
        /** The file is corrupt and must be set aside. */
        CORRUPT,
        /** The disk is full, fails or refuses writes: events are held in memory. */
        UNAVAILABLE,
        /** A statement or its values are wrong: a retry changes nothing. */
        MISTAKE;

        private static final int CORRUPT_CODE = 11;

        static ErrorKind of(SQLException error) {
            return switch (error.getErrorCode() & 0xff) {
                case CORRUPT_CODE, 26 -> CORRUPT;
                // SQLITE_ERROR: tables are missing if the file was truncated while the daemon ran.
                case 1 -> String.valueOf(error.getMessage()).contains("no such table") ? CORRUPT : MISTAKE;
                // TOOBIG, CONSTRAINT, MISMATCH, MISUSE, RANGE, and errors of JDBC itself
                case 0, 18, 19, 20, 21, 25 -> MISTAKE;
                default -> UNAVAILABLE;
            };
        }

        /** Returns an error for a corruption that SQLite does not detect. */
        static SQLException corrupt(String message) {
            return new SQLException(message, null, CORRUPT_CODE);
        }
    }
}
