package dev.gpuwarden.core.kernel;

import java.util.Optional;

/**
 * The header of a line in the form of RFC 5424: {@code 1 2024-07-31T23:14:18Z host kernel - - [meta sequenceId="1"] text}. A field
 * without a value is "-".
 *
 * @param time the time as printed; empty where the line has none
 * @param app the program that wrote the message; empty where the line names none
 * @param end the position of the message; that of the structured data where these are broken, so that nothing in them is a message
 */
record Rfc5424(String time, String app, int end) {

    private static final String VERSION = "1 ";
    private static final String NIL = "-";

    /** The longest header and structured data, in characters. A kernel's record and its prefix are shorter. */
    private static final int LONGEST = KernelRecord.LONGEST;

    /** Reads the header that begins here, behind the priority; empty for a line in another form. */
    static Optional<Rfc5424> read(String line, int from) {
        return line.startsWith(VERSION, from) ? new Scanner(line).read(from) : Optional.empty();
    }

    private static final class Scanner extends LineText {

        private static final int FIELDS = 6;

        Scanner(String line) {
            super(line, Math.min(line.length(), LONGEST));
        }

        Optional<Rfc5424> read(int from) {
            int[] starts = new int[FIELDS + 1];
            starts[0] = from;
            for (int field = 0; field < FIELDS; field++) {
                int space = line.indexOf(' ', starts[field]);
                if (space <= starts[field] || space + 1 >= end) {
                    return Optional.empty();
                }
                starts[field + 1] = space + 1;
            }
            String time = field(starts, 1);
            if (!time.isEmpty() && iso(starts[1]) != starts[2] - 1) {
                return Optional.empty();
            }
            return Optional.of(new Rfc5424(time, field(starts, 3), message(starts[FIELDS])));
        }

        private String field(int[] starts, int field) {
            String text = line.substring(starts[field], starts[field + 1] - 1);
            return text.equals(NIL) ? "" : text;
        }

        /** Returns the position of the message behind the structured data; where these are broken, their own. */
        private int message(int data) {
            int i = line.startsWith(NIL, data) ? data + 1 : data;
            while (i >= data && i < end && line.charAt(i) == '[') {
                i = element(i);
            }
            if (i <= data) {
                return data;
            }
            if (i >= end) {
                return i;
            }
            if (line.charAt(i) != ' ') {
                return data;
            }
            // A UTF-8 message begins with a byte order mark, which a cleaned record shows as the replacement character.
            boolean mark = i + 1 < end && (line.charAt(i + 1) == '\ufeff' || line.charAt(i + 1) == '\ufffd');
            return mark ? i + 2 : i + 1;
        }

        /** Returns the end of {@code [id name="value"]}; -1 where it has none. In a value, a backslash keeps the next character. */
        private int element(int open) {
            boolean quoted = false;
            for (int i = open + 1; i < end; i++) {
                char c = line.charAt(i);
                if (quoted && c == '\\') {
                    i++;
                } else if (c == '"') {
                    quoted = !quoted;
                } else if (c == ']' && !quoted) {
                    return i + 1;
                }
            }
            return -1;
        }
    }
}
