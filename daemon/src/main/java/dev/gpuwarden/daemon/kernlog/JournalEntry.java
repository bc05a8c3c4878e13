package dev.gpuwarden.daemon.kernlog;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import dev.gpuwarden.core.kernel.KernelRecord;
import dev.gpuwarden.core.kernel.KernelRecord.Writer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * One entry of the journal in the form of {@code journalctl -o json} (systemd.journal-fields(7)).
 *
 * @param missed whether journald itself reports that it missed records of the kernel
 */
record JournalEntry(String cursor, KernelRecord record, boolean missed) {

    /** sd-messages.h, SD_MESSAGE_JOURNAL_MISSED */
    static final String MISSED = "e9bf28e6e834481bb6f48f548ad13606";

    /** The fields that {@link #parse} reads and journalctl must be asked for. It always prints cursor and times. */
    static final List<String> FIELDS =
            List.of("MESSAGE", "_TRANSPORT", "_UID", "SYSLOG_FACILITY", "_SOURCE_MONOTONIC_TIMESTAMP", "MESSAGE_ID");

    /** The longest time for which a record waits for journald while the node boots. */
    private static final long LONGEST_WAIT_MICROS = 600_000_000L;

    private static final JsonFactory JSON = new JsonFactory();

    /** Reads an entry; empty for other bytes. */
    static Optional<JournalEntry> parse(byte[] bytes, int from, int to) {
        Map<String, String> fields = new HashMap<>();
        try (JsonParser parser = JSON.createParser(bytes, from, to - from)) {
            if (parser.nextToken() != JsonToken.START_OBJECT) {
                return Optional.empty();
            }
            while (parser.nextToken() == JsonToken.FIELD_NAME) {
                String name = parser.currentName();
                fields.put(name, value(parser));
            }
            if (parser.currentToken() != JsonToken.END_OBJECT) {
                return Optional.empty();
            }
        } catch (IOException e) {
            return Optional.empty();
        }
        String cursor = fields.getOrDefault("__CURSOR", "");
        if (cursor.isEmpty()) {
            return Optional.empty();
        }
        String text = KernelRecord.clean(fields.getOrDefault("MESSAGE", ""));
        KernelRecord record = new KernelRecord(time(fields), writer(fields), text);
        // Any program can send the id, but only journald itself has this transport.
        boolean missed = MISSED.equals(fields.get("MESSAGE_ID")) && "driver".equals(fields.get("_TRANSPORT"));
        return Optional.of(new JournalEntry(cursor, record, missed));
    }

    /** Reads a value: a string; numbers for bad UTF-8; a list of either for a repeated field; null for one that is too long. */
    private static String value(JsonParser parser) throws IOException {
        JsonToken token = parser.nextToken();
        if (token != JsonToken.START_ARRAY) {
            parser.skipChildren();
            return token == JsonToken.VALUE_STRING ? parser.getText() : "";
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        String first = "";
        while ((token = parser.nextToken()) != JsonToken.END_ARRAY && token != null) {
            if (token == JsonToken.VALUE_NUMBER_INT) {
                bytes.write(parser.getIntValue());
            } else if (token == JsonToken.VALUE_STRING && first.isEmpty()) {
                first = parser.getText();
            }
            parser.skipChildren();
        }
        byte[] raw = bytes.toByteArray();
        return raw.length == 0 ? first : KernelRecord.clean(raw, 0, raw.length);
    }

    /** Returns the writer. Records from user space in /dev/kmsg have the kernel's transport too, but not its facility. */
    private static Writer writer(Map<String, String> fields) {
        boolean kernel = "kernel".equals(fields.get("_TRANSPORT"));
        if (kernel) {
            return "0".equals(fields.getOrDefault("SYSLOG_FACILITY", "0")) ? Writer.KERNEL : Writer.PRIVILEGED;
        }
        return "0".equals(fields.get("_UID")) ? Writer.PRIVILEGED : Writer.USER;
    }

    /** Returns the kernel's own time. At boot it is long before journald's. */
    private static Instant time(Map<String, String> fields) {
        long received = number(fields.get("__REALTIME_TIMESTAMP"));
        if (received < 0) {
            return Instant.EPOCH;
        }
        long source = number(fields.get("_SOURCE_MONOTONIC_TIMESTAMP"));
        long monotonic = number(fields.get("__MONOTONIC_TIMESTAMP"));
        long waited = source < 0 || monotonic < 0 ? 0 : monotonic - source;
        boolean likely = waited >= 0 && waited <= LONGEST_WAIT_MICROS;
        return Instant.EPOCH.plusNanos((received - (likely ? waited : 0)) * 1000);
    }

    private static long number(@org.jspecify.annotations.Nullable String text) {
        if (text == null || text.isEmpty() || text.length() > 16) {
            return -1;
        }
        long value = 0;
        for (int i = 0; i < text.length(); i++) {
            int digit = text.charAt(i) - '0';
            if (digit < 0 || digit > 9) {
                return -1;
            }
            value = 10 * value + digit;
        }
        return value;
    }
}
