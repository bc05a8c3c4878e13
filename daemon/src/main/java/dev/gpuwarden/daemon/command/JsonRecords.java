package dev.gpuwarden.daemon.command;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import dev.gpuwarden.core.kernel.KernelLogParser;
import dev.gpuwarden.daemon.command.LogRecords.Entry;
import dev.gpuwarden.daemon.command.LogRecords.Origin;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/** A reader of records in JSON: of journald (`journalctl -o json`), of `dmesg --json`, and of container engines. */
final class JsonRecords {

    private static final JsonFactory FACTORY = new JsonFactory();

    /** Objects within objects: that of dmesg has two levels. */
    private static final int DEEPEST = 8;

    private static final String MESSAGE = "MESSAGE";
    private static final String DMESG = "msg";
    /** Docker's json-file has the whole line in the first, collectors have it in the second. */
    private static final List<String> LINES = List.of("log", "message");

    private static final Set<String> OF_INTEREST = Set.of(
            MESSAGE, "_TRANSPORT", "SYSLOG_IDENTIFIER", "SYSLOG_FACILITY", DMESG, "fac", "pri", "log", "message");

    private JsonRecords() {}

    /** Returns whether the text is an object, or an array of them, that begins and goes on in this line. */
    static boolean isOne(String text) {
        return text.startsWith("{") || text.startsWith("[{");
    }

    static boolean isOfInterest(String field) {
        return OF_INTEREST.contains(field);
    }

    /** Returns whether the line of an object in several lines has its message. */
    static boolean hasMessage(String line) {
        return line.startsWith("\"MESSAGE\"")
                || line.startsWith("\"msg\"")
                || line.startsWith("\"log\"")
                || line.startsWith("\"message\"");
    }

    /** Returns the records of an object and of those in it. The part of broken text before the break has all that counts. */
    static List<Entry> read(String text, long line) {
        List<Entry> entries = new ArrayList<>();
        try (JsonParser json = FACTORY.createParser(text)) {
            value(json, json.nextToken(), line, 0, entries);
        } catch (IOException e) {
            return entries;
        }
        return entries;
    }

    private static void value(JsonParser json, JsonToken token, long line, int depth, List<Entry> entries)
            throws IOException {
        if (depth == DEEPEST) {
            json.skipChildren();
        } else if (token == JsonToken.START_ARRAY) {
            for (JsonToken item = json.nextToken();
                    item != JsonToken.END_ARRAY && item != null;
                    item = json.nextToken()) {
                value(json, item, line, depth + 1, entries);
            }
        } else if (token == JsonToken.START_OBJECT) {
            Map<String, String> fields = new TreeMap<>();
            try {
                while (json.nextToken() == JsonToken.FIELD_NAME) {
                    String field = json.currentName();
                    JsonToken value = json.nextToken();
                    if (isOfInterest(field)) {
                        fields.put(field, text(json, value));
                    } else {
                        value(json, value, line, depth + 1, entries);
                    }
                }
            } finally {
                written(fields, line).ifPresent(entries::add);
            }
        }
    }

    /** Returns the record with its writer; empty for fields without a message. */
    static Optional<Entry> written(Map<String, String> fields, long line) {
        String message = fields.getOrDefault(MESSAGE, "");
        if (!message.isEmpty()) {
            return Optional.of(ofJournald(message, fields, line));
        }
        String kernel = fields.getOrDefault(DMESG, "");
        if (!kernel.isEmpty()) {
            return Optional.of(new Entry(line, kernel, ofDmesg(fields) ? Origin.KERNEL : Origin.PROGRAM));
        }
        return LINES.stream()
                .map(field -> fields.getOrDefault(field, ""))
                .filter(text -> !text.isEmpty())
                .findFirst()
                .map(text -> new Entry(line, text.stripTrailing(), Origin.LINE));
    }

    private static Entry ofJournald(String message, Map<String, String> fields, long line) {
        String transport = fields.getOrDefault("_TRANSPORT", "");
        String identifier = fields.getOrDefault("SYSLOG_IDENTIFIER", "");
        String facility = fields.getOrDefault("SYSLOG_FACILITY", "");
        boolean named = transport.isEmpty() && (identifier.isEmpty() || identifier.equals("kernel"));
        // Messages that a program writes to /dev/kmsg have the kernel's transport too, but not its facility.
        boolean kernel = (transport.equals("kernel") || named) && (facility.isEmpty() || facility.equals("0"));
        // The one program besides the kernel whose messages count: it logs that it reset a GPU.
        boolean resetJob = identifier.equals(KernelLogParser.RESET_JOB) && message.startsWith("GPU reset ");
        return new Entry(line, message, kernel || resetJob ? Origin.KERNEL : Origin.PROGRAM);
    }

    /** dmesg prints facility times eight plus the level in one number, or both by name. */
    private static boolean ofDmesg(Map<String, String> fields) {
        String priority = fields.getOrDefault("pri", "");
        boolean kernels = !priority.matches("\\d+") || priority.length() == 1 && priority.charAt(0) < '8';
        return kernels && fields.getOrDefault("fac", "kern").equals("kern");
    }

    /**
     * Returns a field's text. journald writes text that is not UTF-8 as an array of bytes, and a field that occurs twice as an array of
     * both.
     */
    private static String text(JsonParser json, JsonToken value) throws IOException {
        if (value == JsonToken.VALUE_STRING || value == JsonToken.VALUE_NUMBER_INT) {
            return json.getText();
        }
        if (value != JsonToken.START_ARRAY) {
            json.skipChildren();
            return "";
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        String first = "";
        for (JsonToken item = json.nextToken(); item != JsonToken.END_ARRAY && item != null; item = json.nextToken()) {
            if (item == JsonToken.VALUE_NUMBER_INT) {
                bytes.write(json.getIntValue());
            } else if (item == JsonToken.VALUE_STRING && first.isEmpty()) {
                first = json.getText();
            }
            json.skipChildren();
        }
        return first.isEmpty() ? bytes.toString(StandardCharsets.UTF_8) : first;
    }
}
