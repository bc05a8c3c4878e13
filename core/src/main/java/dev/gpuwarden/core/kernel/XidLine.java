package dev.gpuwarden.core.kernel;

import dev.gpuwarden.core.model.PciAddress;
import java.util.Optional;

/**
 * An Xid line taken apart.
 *
 * @param pci empty where the line redacts or garbles it
 * @param gpuInstance number of the MIG instance; empty where the whole GPU is meant
 * @param rest what stands behind code, process and name
 */
record XidLine(
        Optional<PciAddress> pci,
        Optional<String> gpuInstance,
        int code,
        Optional<String> pid,
        Optional<String> process,
        String rest) {

    /** Names of processes end at 15 characters, and this much is quoted from hostile ones. */
    private static final int LONGEST_FIELD = 64;

    /** @param cursor behind "Xid"; empty unless a device in parentheses and a code follow */
    static Optional<XidLine> read(Cursor cursor) {
        if (!cursor.skipSpaces().skip("(")) {
            return Optional.empty();
        }
        int close = cursor.text.indexOf(')', cursor.at);
        if (close < 0 || close - cursor.at > LONGEST_FIELD) {
            return Optional.empty();
        }
        Cursor device = new Cursor(cursor.text.substring(cursor.at, close), 0);
        device.skipSpaces().skip("PCI:");
        Optional<PciAddress> pci =
                PrintedAddress.read(device.skipSpaces()).filter(address -> device.atEnd() || device.peek() == ' ');
        Optional<String> instance =
                device.skipSpaces().skip("GPU-I:") ? Optional.of(device.rest().strip()) : Optional.empty();
        cursor.at = close + 1;
        if (!cursor.skipSpaces().skip(":")) {
            return Optional.empty();
        }
        int code = cursor.skipSpaces().number();
        if (code < 0 || !codeEnds(cursor)) {
            return Optional.empty();
        }
        Optional<String> pid = field(cursor, "pid=");
        Optional<String> process = field(cursor, "name=");
        return Optional.of(new XidLine(pci, instance, code, pid, process, restOf(cursor)));
    }

    /** A number that goes on as a word, or that counts lines which were left out, is no code. */
    private static boolean codeEnds(Cursor cursor) {
        return !Cursor.isWord(cursor.peek())
                && !(cursor.peek() == ' ' && cursor.text.startsWith("callbacks suppressed", cursor.at + 1));
    }

    private static Optional<String> field(Cursor cursor, String name) {
        int start = cursor.at;
        if (!cursor.skipSpaces().skip(",") || !cursor.skipSpaces().skip(name)) {
            cursor.at = start;
            return Optional.empty();
        }
        int comma = cursor.text.indexOf(',', cursor.at);
        int stop = comma < 0 ? cursor.text.length() : comma;
        String value = cursor.text
                .substring(cursor.at, Math.min(stop, cursor.at + LONGEST_FIELD))
                .strip();
        cursor.at = stop;
        boolean quoted = value.length() > 1
                && (value.charAt(0) == '\'' || value.charAt(0) == '"')
                && value.charAt(value.length() - 1) == value.charAt(0);
        value = quoted ? value.substring(1, value.length() - 1) : value;
        return value.isEmpty() ? Optional.empty() : Optional.of(value);
    }

    private static String restOf(Cursor cursor) {
        cursor.skipSpaces().skip(",");
        return cursor.skipSpaces().rest();
    }
}
