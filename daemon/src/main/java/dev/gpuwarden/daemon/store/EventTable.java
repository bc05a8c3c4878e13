package dev.gpuwarden.daemon.store;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.Overrides;
import dev.gpuwarden.core.event.ProcessingStrategy;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.event.StoredEvent;
import dev.gpuwarden.daemon.store.PreparedEvent.Fingerprint;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The table of events, with its JSON columns. */
final class EventTable {

    private static final System.Logger LOG = System.getLogger(EventTable.class.getName());

    /** The columns that {@link #read} reads, in this order. */
    static final String COLUMNS = "sequence, received, last_seen, occurrences, id, agent, component, check_name, node,"
            + " healthy, fatal, action, codes, entities, body";

    /** The number of remembered fingerprints of events that were counted with another one. */
    private static final int REPEATS = 10_000;

    private final Sql sql;
    private long repeats;

    EventTable(Sql sql) throws SQLException {
        this.sql = sql;
        this.repeats = sql.number("SELECT max(number) FROM repeats");
    }

    /** The last event about a subject. */
    record Last(long sequence, Instant lastSeen) {}

    /** Returns true if the event with this fingerprint arrived before. */
    boolean has(Fingerprint telling) throws SQLException {
        byte[] bytes = telling.bytes();
        return sql.exists("SELECT 1 FROM events WHERE telling = ?", (Object) bytes)
                || sql.exists("SELECT 1 FROM repeats WHERE telling = ?", (Object) bytes);
    }

    boolean hasId(String id) throws SQLException {
        return sql.exists("SELECT 1 FROM events WHERE id = ?", id);
    }

    Optional<Last> lastHealthy(Fingerprint subject) throws SQLException {
        return sql.first(
                "SELECT sequence, last_seen FROM events WHERE subject = ? ORDER BY sequence DESC LIMIT 1",
                row -> new Last(row.getLong(1), Sql.instant(row.getLong(2))),
                (Object) subject.bytes());
    }

    Optional<StoredEvent> get(long sequence) throws SQLException {
        return sql.first("SELECT " + COLUMNS + " FROM events WHERE sequence = ?", EventTable::read, sequence);
    }

    void insert(long sequence, PreparedEvent incoming, Instant received, Instant lastSeen) throws SQLException {
        HealthEvent event = incoming.event();
        sql.update(
                "INSERT INTO events (" + COLUMNS + ", telling, subject)"
                        + " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                sequence,
                Sql.micros(received),
                Sql.micros(lastSeen),
                incoming.times(),
                event.id(),
                event.agent(),
                event.componentClass(),
                event.checkName(),
                event.nodeName(),
                event.healthy(),
                event.fatal(),
                event.action().number(),
                incoming.codes(),
                incoming.entities(),
                incoming.body(),
                incoming.telling().bytes(),
                event.healthy() ? incoming.subject().bytes() : null);
    }

    /** Counts a repetition with a stored event. Returns false if that event is gone. */
    boolean count(long sequence, long times, Instant seen) throws SQLException {
        return sql.update(
                        "UPDATE events SET occurrences = occurrences + ?, last_seen = ? WHERE sequence = ?",
                        times,
                        Sql.micros(seen),
                        sequence)
                == 1;
    }

    /** Remembers a fingerprint, so that the event is recognized when it arrives again. */
    void remember(Fingerprint telling) throws SQLException {
        repeats++;
        sql.update("INSERT OR IGNORE INTO repeats (number, telling) VALUES (?, ?)", repeats, telling.bytes());
        sql.update("DELETE FROM repeats WHERE number <= ?", repeats - REPEATS);
    }

    /** Reads a row like {@link #read}, but skips one that cannot be read, so that it does not hide the others. */
    static Optional<StoredEvent> readable(ResultSet row) throws SQLException {
        try {
            return Optional.of(read(row));
        } catch (SQLException e) {
            if (Sql.ErrorKind.of(e) != Sql.ErrorKind.CORRUPT) {
                throw e;
            }
            LOG.log(System.Logger.Level.WARNING, "left out: {0}", e.getMessage());
            return Optional.empty();
        }
    }

    static StoredEvent read(ResultSet row) throws SQLException {
        try {
            HealthEvent.Builder event = HealthEvent.of(row.getString(6), row.getString(7), row.getString(8))
                    .id(row.getString(5))
                    .nodeName(row.getString(9))
                    .healthy(row.getBoolean(10))
                    .fatal(row.getBoolean(11))
                    .action(RecommendedAction.of(row.getInt(12)))
                    .errorCodes(EventJson.readCodes(row.getString(13)))
                    .entities(EventJson.readEntities(row.getString(14)));
            EventJson.readBody(row.getString(15), event);
            return new StoredEvent(
                    row.getLong(1),
                    event.build(),
                    Sql.instant(row.getLong(2)),
                    Sql.instant(row.getLong(3)),
                    row.getLong(4));
        } catch (IOException | RuntimeException e) {
            throw Sql.ErrorKind.corrupt("event " + row.getLong(1) + " cannot be read: " + e);
        }
    }

    /**
     * The JSON columns of an event: its lists, which SQLite filters by, and the parts without a column of their own. The
     * JSON is readable in the shell of SQLite.
     */
    static final class EventJson {

        private static final JsonFactory FACTORY = new JsonFactory();

        private EventJson() {}

        private interface Writing {
            void write(JsonGenerator json) throws IOException;
        }

        static String codes(List<String> codes) {
            return text(json -> json.writeArray(codes.toArray(String[]::new), 0, codes.size()));
        }

        /** Returns the entities in the form `[["PCI","0000:3b:00"],…]`. */
        static String entities(List<Entity> entities) {
            return text(json -> {
                json.writeStartArray();
                for (Entity entity : entities) {
                    json.writeArray(new String[] {entity.type(), entity.value()}, 0, 2);
                }
                json.writeEndArray();
            });
        }

        /** Returns the message, the metadata and the other parts without a column. Empty values are left out. */
        static String body(HealthEvent event) {
            return text(json -> {
                json.writeStartObject();
                json.writeNumberField("version", event.version());
                json.writeStringField("message", event.message());
                json.writeStringField("generated", event.generated().toString());
                json.writeNumberField("strategy", event.strategy().ordinal());
                if (!event.metadata().isEmpty()) {
                    json.writeObjectFieldStart("metadata");
                    for (Map.Entry<String, String> entry : event.metadata().entrySet()) {
                        json.writeStringField(entry.getKey(), entry.getValue());
                    }
                    json.writeEndObject();
                }
                if (!event.customAction().isEmpty()) {
                    json.writeStringField("customAction", event.customAction());
                }
                overrides(json, "quarantine", event.quarantine());
                overrides(json, "drain", event.drain());
                json.writeEndObject();
            });
        }

        private static void overrides(JsonGenerator json, String name, Overrides overrides) throws IOException {
            if (!overrides.equals(Overrides.NONE)) {
                json.writeObjectFieldStart(name);
                json.writeBooleanField("force", overrides.force());
                json.writeBooleanField("skip", overrides.skip());
                json.writeEndObject();
            }
        }

        private static String text(Writing writing) {
            StringWriter text = new StringWriter();
            try (JsonGenerator json = FACTORY.createGenerator(text)) {
                writing.write(json);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            return text.toString();
        }

        static List<String> readCodes(String text) throws IOException {
            List<String> codes = new ArrayList<>();
            try (JsonParser json = FACTORY.createParser(text)) {
                json.nextToken();
                while (json.nextToken() != JsonToken.END_ARRAY) {
                    codes.add(json.getText());
                }
            }
            return codes;
        }

        static List<Entity> readEntities(String text) throws IOException {
            List<Entity> entities = new ArrayList<>();
            try (JsonParser json = FACTORY.createParser(text)) {
                json.nextToken();
                while (json.nextToken() != JsonToken.END_ARRAY) {
                    String type = json.nextTextValue();
                    entities.add(new Entity(type, json.nextTextValue()));
                    json.nextToken();
                }
            }
            return entities;
        }

        /** Reads a {@link #body} into an event and skips fields of newer versions. */
        static void readBody(String text, HealthEvent.Builder event) throws IOException {
            try (JsonParser json = FACTORY.createParser(text)) {
                json.nextToken();
                while (json.nextToken() != JsonToken.END_OBJECT) {
                    String name = json.currentName();
                    json.nextToken();
                    switch (name) {
                        case "version" -> event.version(json.getIntValue());
                        case "message" -> event.message(json.getText());
                        case "generated" -> event.generated(Instant.parse(json.getText()));
                        case "strategy" -> event.strategy(strategy(json.getIntValue()));
                        case "metadata" -> event.metadata(readMetadata(json));
                        case "customAction" -> event.customAction(json.getText());
                        case "quarantine" -> event.quarantine(readOverrides(json));
                        case "drain" -> event.drain(readOverrides(json));
                        default -> json.skipChildren();
                    }
                }
            }
        }

        private static ProcessingStrategy strategy(int number) {
            ProcessingStrategy[] all = ProcessingStrategy.values();
            return number >= 0 && number < all.length ? all[number] : ProcessingStrategy.UNSPECIFIED;
        }

        private static Map<String, String> readMetadata(JsonParser json) throws IOException {
            Map<String, String> metadata = new LinkedHashMap<>();
            while (json.nextToken() != JsonToken.END_OBJECT) {
                metadata.put(json.currentName(), json.nextTextValue());
            }
            return metadata;
        }

        private static Overrides readOverrides(JsonParser json) throws IOException {
            boolean force = false;
            boolean skip = false;
            while (json.nextToken() != JsonToken.END_OBJECT) {
                boolean forces = json.currentName().equals("force");
                boolean value = json.nextToken() == JsonToken.VALUE_TRUE;
                force |= forces && value;
                skip |= !forces && value;
            }
            return new Overrides(force, skip);
        }
    }
}
