package dev.gpuwarden.daemon.command;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.kernel.KernelLogParser;
import dev.gpuwarden.core.kernel.Signal;
import dev.gpuwarden.core.kernel.Signal.Kind;
import dev.gpuwarden.core.kernel.WrappedMessage;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.util.BoundedMap;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Pattern;

/** A decoder of the lines of one log in order, with state from earlier lines. */
final class XidDecoder {

    /** A node has 16 GPUs; a log of a fleet in one file has more. */
    private static final int MOST_GPUS = 4096;

    /** The escape sequences that dmesg --color writes around times and names of subsystems. */
    private static final Pattern COLOUR = Pattern.compile("\u001b\\[[0-9;]{0,16}m");

    private final KernelLogParser parser;
    private final WrappedMessage wrapped = new WrappedMessage();
    private final Map<PciAddress, String> uuids = new BoundedMap<>(MOST_GPUS, false);
    private long lines;

    XidDecoder(KernelLogParser parser) {
        this.parser = parser;
    }

    /** Returns the number of lines read. */
    long lines() {
        return lines;
    }

    Optional<Finding> decode(String line) {
        lines++;
        if (lines == 1 && line.startsWith("\ufeff")) {
            line = line.substring(1);
        }
        String plain = (line.indexOf('\u001b') < 0 ? line : COLOUR.matcher(line).replaceAll("")).replace('\t', ' ');
        Optional<Signal> found =
                Journal.looksLikeEntry(plain) ? Journal.message(plain).flatMap(this::signal) : signal(plain);
        return found.map(signal -> new Finding(lines - wrapped.reachedBack(), withUuid(signal)));
    }

    private Optional<Signal> signal(String message) {
        return parser.parse(wrapped.join(message));
    }

    private Signal withUuid(Signal signal) {
        if (signal.pci().isEmpty()) {
            return signal;
        }
        if (signal.kind() == Kind.GPU_NAMED) {
            uuids.put(signal.pci().get(), signal.gpuUuid().orElse(""));
        }
        String uuid = uuids.get(signal.pci().get());
        return uuid == null || signal.gpuUuid().isPresent() ? signal : signal.ofGpu(uuid);
    }

    /** A decoder of lines of `journalctl -o json`. */
    static final class Journal {

        private static final JsonFactory FACTORY = new JsonFactory();

        private Journal() {}

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
            // The one program besides the kernel whose messages count: it logs that it reset a GPU.
            boolean resetJob = identifier.equals(KernelLogParser.RESET_JOB) && message.startsWith("GPU reset ");
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
            for (JsonToken item = json.nextToken();
                    item != JsonToken.END_ARRAY && item != null;
                    item = json.nextToken()) {
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

    /**
     * The decoded message of a log line.
     *
     * @param line number of the message's first line, from 1
     * @param signal decoded message, with the UUID of its GPU, if an earlier line had it
     */
    record Finding(long line, Signal signal) {

        static String address(PciAddress pci) {
            return Entity.pci(pci).value();
        }

        /** Returns the tree for JSON, without absent values. */
        Map<String, Object> tree() {
            Map<String, Object> tree = new LinkedHashMap<>();
            tree.put("line", line);
            tree.put("signal", signal.kind().label());
            if (signal.kind() != Kind.FALLEN_OFF_BUS) {
                tree.put("code", signal.family());
            }
            if (!signal.family().equals(signal.code())) {
                tree.put("sub_code", signal.code());
            }
            signal.pci().ifPresent(pci -> tree.put("pci", address(pci)));
            signal.gpuUuid().ifPresent(uuid -> tree.put("gpu_uuid", uuid));
            signal.pid().ifPresent(pid -> tree.put("pid", pid));
            signal.process().ifPresent(process -> tree.put("process", process));
            if (!signal.name().isEmpty()) {
                tree.put("name", signal.name());
            }
            tree.put("severity", signal.severity().label());
            tree.put("action", signal.action().label());
            tree.put("why", signal.why());
            if (!signal.details().isEmpty()) {
                tree.put("details", new TreeMap<>(signal.details()));
            }
            return tree;
        }
    }
}
