package dev.gpuwarden.daemon.store;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.Overrides;
import dev.gpuwarden.core.event.ProcessingStrategy;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The JSON columns of an event: its lists, which SQLite filters by, and the parts without a column of their own. The
 * JSON is readable in the shell of SQLite.
 */
final class EventJson {

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
