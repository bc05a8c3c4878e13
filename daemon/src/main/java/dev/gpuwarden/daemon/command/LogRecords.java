package dev.gpuwarden.daemon.command;

import dev.gpuwarden.core.kernel.XidMention;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A reader of the records of a log from its lines: most logs have one in each line; the output of `journalctl -o json-pretty`, `export`
 * and `verbose` and of `dmesg --json` has one in several. Not thread-safe.
 */
final class LogRecords {

    /** The largest record in several lines, in characters. */
    private static final int LONGEST = 1 << 20;

    /** A field of `-o export`, and of `-o verbose`, which indents it. */
    private static final Pattern FIELD = Pattern.compile(" {0,8}([A-Z_][A-Z0-9_]{0,63})=(.*)");

    /** The first field of a record in `-o export`, and the end of its first line in `-o verbose`. */
    private static final String EXPORT = "__CURSOR=";

    private static final String VERBOSE = " [s=";

    /** `-o verbose` indents fields by four spaces, and the lines that continue one by more. */
    private static final String CONTINUED = "     ";

    private static final String MESSAGE = "MESSAGE";

    /** A line that continues an object over several lines: a field, another object, numbers of bytes, or the end of one of them. */
    private static final Pattern OF_OBJECT =
            Pattern.compile("\\s*(?:[\"{].*|[\\[\\]][\\s\\d,.\\[\\]{}-]*|\\}[\\s,\\[\\]{}]*|-?[\\d.]{1,20},?|)\\s*");

    /** The origin of a text. */
    enum Origin {
        /** A whole line, with its own prefix. */
        LINE,
        KERNEL,
        PROGRAM
    }

    /**
     * A record.
     *
     * @param line the number of the line with the message, from 1
     */
    record Entry(long line, String text, Origin origin) {}

    private final StringBuilder object = new StringBuilder();
    private final Map<String, String> fields = new TreeMap<>();
    private boolean inFields;
    /** journalctl writes a message that is not one line of text behind eight bytes with its length. */
    private boolean binary;

    /** The lines of the message behind its first one. */
    private final StringBuilder more = new StringBuilder();

    private String lastField = "";
    private long messageLine;

    /** Returns the records that end with this line. */
    List<Entry> read(String line, long number) {
        if (object.length() > 0) {
            return inObject(line, number);
        }
        if (inFields && !startsRecord(line)) {
            return inFields(line, number);
        }
        String start = line.strip();
        if (start.equals("{") || start.equals("[{")) {
            object.append('{');
            messageLine = number;
            return List.of();
        }
        if (JsonRecords.isOne(start)) {
            return object(start, number);
        }
        if (startsRecord(line)) {
            List<Entry> before = endOfFields();
            inFields = true;
            return before;
        }
        Matcher field = FIELD.matcher(line);
        boolean message = line.contains(MESSAGE + "=")
                && field.matches()
                && field.group(1).equals(MESSAGE);
        return List.of(new Entry(number, message ? field.group(2) : line, Origin.LINE));
    }

    /** Returns the records that the end of the log cuts. */
    List<Entry> end() {
        List<Entry> entries = new ArrayList<>(endOfObject());
        entries.addAll(endOfFields());
        return entries;
    }

    private static boolean startsRecord(String line) {
        return line.startsWith(EXPORT) || line.endsWith("]") && line.contains(VERBOSE) && !line.startsWith(" ");
    }

    private List<Entry> inFields(String line, long number) {
        if (line.isEmpty()) {
            return endOfFields();
        }
        Matcher field = FIELD.matcher(line);
        boolean matches = field.matches();
        if (binary && !fields.containsKey(MESSAGE)) {
            fields.put(MESSAGE, line.substring(line.lastIndexOf('\0', Long.BYTES) + 1));
            more.setLength(0);
            messageLine = number;
        } else if (matches) {
            binary = false;
            lastField = field.group(1);
            if (JsonRecords.isOfInterest(lastField)) {
                fields.put(lastField, field.group(2));
                if (lastField.equals(MESSAGE)) {
                    more.setLength(0);
                    messageLine = number;
                }
            }
        } else if (line.equals(MESSAGE)) {
            binary = true;
        } else if (continues(line) && more.length() + line.length() <= LONGEST) {
            more.append(' ').append(line.strip());
        } else if (continues(line) || !line.startsWith(CONTINUED)) {
            // Another text follows the output of journalctl, or the message has no end.
            List<Entry> entries = new ArrayList<>(endOfFields());
            inFields = false;
            entries.addAll(read(line, number));
            return entries;
        }
        return List.of();
    }

    private boolean continues(String line) {
        return binary || lastField.equals(MESSAGE) && line.startsWith(CONTINUED);
    }

    private List<Entry> endOfFields() {
        fields.computeIfPresent(MESSAGE, (name, first) -> first + more);
        more.setLength(0);
        Optional<Entry> entry = JsonRecords.written(fields, messageLine);
        fields.clear();
        lastField = "";
        binary = false;
        return entry.map(List::of).orElse(List.of());
    }

    private List<Entry> inObject(String line, long number) {
        if (!OF_OBJECT.matcher(line).matches() || object.length() + line.length() > LONGEST) {
            List<Entry> entries = new ArrayList<>(endOfObject());
            entries.addAll(read(line, number));
            return entries;
        }
        String text = line.strip();
        boolean closes = text.startsWith("}");
        object.append(closes ? "}" : text).append('\n');
        messageLine = JsonRecords.hasMessage(text) ? number : messageLine;
        boolean opens = text.endsWith("{");
        List<Entry> entries = closes || opens ? endOfObject() : List.of();
        object.append(opens ? "{" : "");
        return entries;
    }

    private List<Entry> endOfObject() {
        String text = object.toString();
        object.setLength(0);
        return text.isEmpty() ? List.of() : object(text, messageLine);
    }

    /** Returns the records in an object, and the object itself where it has an XID elsewhere. */
    private static List<Entry> object(String text, long number) {
        List<Entry> entries = JsonRecords.read(text, number);
        boolean elsewhere = XidMention.of(text) != XidMention.NONE
                && entries.stream().allMatch(entry -> XidMention.of(entry.text()) == XidMention.NONE);
        if (!elsewhere) {
            return entries;
        }
        List<Entry> all = new ArrayList<>(entries);
        all.add(new Entry(number, text, Origin.LINE));
        return all;
    }
}
