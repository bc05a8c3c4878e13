package dev.gpuwarden.daemon.command;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/** A decoder of lines of `journalctl -o json`. */
final class XidJournal {

    /** The one program besides the kernel whose messages count: it logs that it reset a GPU. */
    private static final String RESET_JOB = "nvsentinel-gpu-reset";

    private static final JsonFactory FACTORY = new JsonFactory();

    private XidJournal() {}

    static boolean looksLikeEntry(String line) {
        return line.startsWith("{");
    }

    /**
     * Returns the message if its writer is the kernel or a job that resets GPUs; empty for all others and for any other
     * text.
     */
    static Optional<String> message(String line) {
        String message = "";
        String transport = "";
        String identifier = "";
        String facility = "";
        try (JsonParser json = FACTORY.createParser(line)) {
            json.nextToken();
            while (json.nextToken() == JsonToken.FIELD_NAME) {
                String field = json.currentName();
                JsonToken value = json.nextToken();
                switch (field) {
                    case "MESSAGE" -> message = text(json, value);
                    case "_TRANSPORT" -> transport = text(json, value);
                    case "SYSLOG_IDENTIFIER" -> identifier = text(json, value);
                    case "SYSLOG_FACILITY" -> facility = text(json, value);
                    default -> json.skipChildren();
                }
            }
        } catch (IOException e) {
            // Truncated or broken: the part read so far may have all that counts.
            return written(message, transport, identifier, facility);
        }
        return written(message, transport, identifier, facility);
    }

    private static Optional<String> written(String message, String transport, String identifier, String facility) {
        boolean named = transport.isEmpty() && (identifier.isEmpty() || identifier.equals("kernel"));
        // Messages that a program writes to /dev/kmsg have the kernel's transport too, but not its facility.
        boolean kernel = (transport.equals("kernel") || named) && (facility.isEmpty() || facility.equals("0"));
        boolean resetJob = identifier.equals(RESET_JOB) && message.startsWith("GPU reset ");
        return kernel || resetJob ? Optional.of(message) : Optional.empty();
    }

    /**
     * Returns a field's text. journald writes text that is not UTF-8 as an array of bytes, and a field that occurs
     * twice as an array of both.
     */
    private static String text(JsonParser json, JsonToken value) throws IOException {
        if (value == JsonToken.VALUE_STRING) {
            return json.getText();
        }
        if (value != JsonToken.START_ARRAY) {
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
