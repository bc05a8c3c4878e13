package dev.gpuwarden.daemon.store;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
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

/** A connection and its statements, each prepared once. For one thread at a time. */
final class Sql implements AutoCloseable {

    /** Somebody else's shell on the file may hold its lock for a moment. */
    private static final int BUSY_MILLIS = 2000;

    /** Those of the writer, and the usual combinations of filters. */
    private static final int MOST_STATEMENTS = 48;

    private final Connection connection;
    /** In the order of their last use. */
    private final Map<String, PreparedStatement> statements = new LinkedHashMap<>(64, 0.75f, true);

    private Sql(Connection connection) {
        this.connection = connection;
    }

    /** Reads one row. */
    interface Row<T> {
        T read(ResultSet row) throws SQLException;
    }

    /** @param place a file's absolute path, or `:memory:` */
    static Sql open(String place) throws SQLException {
        Properties properties = new Properties();
        properties.setProperty("busy_timeout", String.valueOf(BUSY_MILLIS));
        return new Sql(JDBC.createConnection(JDBC.PREFIX + place, properties));
    }

    /** From here on statements belong to a transaction that {@link #commit} ends. */
    void transactions() throws SQLException {
        connection.setAutoCommit(false);
    }

    void commit() throws SQLException {
        connection.commit();
    }

    /** Runs statements that answer nothing, to their end. */
    void run(String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.executeUpdate(sql);
        }
    }

    /** How many rows changed. */
    int update(String sql, @Nullable Object... values) throws SQLException {
        return prepared(sql, values).executeUpdate();
    }

    <T> List<T> list(String sql, Row<T> row, @Nullable Object... values) throws SQLException {
        return listWhile(sql, row, any -> true, values);
    }

    /** Ends with the first row after which no more are wanted. */
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

    /** Takes one row. */
    interface RowTaker {
        void take(ResultSet row) throws SQLException;
    }

    /** Row by row: all of them at once may be more than there is memory for. */
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

    /** The only value; 0 where there is none. */
    long number(String sql, @Nullable Object... values) throws SQLException {
        return first(sql, row -> row.getLong(1), values).orElse(0L);
    }

    boolean exists(String sql, @Nullable Object... values) throws SQLException {
        return first(sql, row -> true, values).isPresent();
    }

    private PreparedStatement prepared(String sql, @Nullable Object... values) throws SQLException {
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

    @Override
    public void close() throws SQLException {
        connection.close();
    }
}
