package dev.gpuwarden.daemon.store;

import dev.gpuwarden.core.event.EventFilter;
import dev.gpuwarden.core.event.StoredEvent;
import dev.gpuwarden.daemon.store.EventTable.EventJson;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * An SQL query for a filter. Values are bound, never written into the statement. Lists are bound as one JSON value,
 * so that few different statements exist.
 */
record EventQuery(String sql, List<Object> values, int limit) {

    static final int USUAL = 1000;
    static final int MOST = 10_000;

    /** The characters of text after which a result ends. The next page starts after its last event. */
    private static final int MOST_CHARACTERS = 8 << 20;

    static EventQuery of(EventFilter filter) {
        List<String> conditions = new ArrayList<>();
        List<Object> values = new ArrayList<>();
        among("agent", filter.agents(), conditions, values);
        among("check_name", filter.checks(), conditions, values);
        if (!filter.codes().isEmpty()) {
            conditions.add(
                    "EXISTS (SELECT 1 FROM json_each(codes) c WHERE c.value IN (SELECT value FROM json_each(?)))");
            values.add(EventJson.codes(filter.codes()));
        }
        Map<String, Optional<?>> others = new LinkedHashMap<>();
        others.put("EXISTS (SELECT 1 FROM json_each(entities) e WHERE e.value ->> 1 = ?)", filter.entityValue());
        others.put("fatal = ?", filter.fatal());
        others.put("healthy = ?", filter.healthy());
        others.put("last_seen >= ?", filter.from().map(Sql::clampedMicros));
        others.put("received < ?", filter.until().map(Sql::clampedMicros));
        others.forEach((condition, given) -> given.ifPresent(value -> {
            conditions.add(condition);
            values.add(value);
        }));
        if (filter.afterSequence() > 0) {
            conditions.add(filter.newestFirst() ? "sequence < ?" : "sequence > ?");
            values.add(filter.afterSequence());
        }
        int limit = filter.limit() <= 0 ? USUAL : Math.min(filter.limit(), MOST);
        values.add(limit);
        String where = conditions.isEmpty() ? "" : " WHERE " + String.join(" AND ", conditions);
        return new EventQuery(
                "SELECT " + EventTable.COLUMNS + " FROM events" + where + " ORDER BY sequence"
                        + (filter.newestFirst() ? " DESC" : "") + " LIMIT ?",
                List.copyOf(values),
                limit);
    }

    private static void among(String column, List<String> any, List<String> conditions, List<Object> values) {
        if (!any.isEmpty()) {
            conditions.add(column + " IN (SELECT value FROM json_each(?))");
            values.add(EventJson.codes(any));
        }
    }

    List<StoredEvent> run(Sql reader) throws SQLException {
        return bounded(reader, sql, values.toArray());
    }

    /** Returns the events after a sequence number, at most {@code max}. */
    static List<StoredEvent> after(Sql reader, long sequence, int max) throws SQLException {
        return bounded(
                reader,
                "SELECT " + EventTable.COLUMNS + " FROM events WHERE sequence > ? ORDER BY sequence LIMIT ?",
                sequence,
                Math.max(1, Math.min(max, MOST)));
    }

    private static List<StoredEvent> bounded(Sql reader, String sql, Object... values) throws SQLException {
        int[] characters = {0};
        return reader
                .listWhile(
                        sql,
                        EventTable::readable,
                        stored -> {
                            characters[0] +=
                                    stored.map(one -> one.event().characters()).orElse(0);
                            return characters[0] < MOST_CHARACTERS;
                        },
                        values)
                .stream()
                .flatMap(Optional::stream)
                .toList();
    }
}
