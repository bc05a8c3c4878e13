package dev.gpuwarden.core.kernel;

import dev.gpuwarden.core.model.PciAddress;
import java.util.Optional;

/**
 * The parts of an XID line.
 *
 * @param pci the GPU's address; empty where the line redacts or garbles it
 * @param gpuInstance the number of the MIG instance; empty for the whole GPU
 * @param rest the text behind code, process and name
 */
record XidLine(
        Optional<PciAddress> pci,
        Optional<String> gpuInstance,
        int code,
        Optional<String> pid,
        Optional<String> process,
        String rest) {

    /** The longest quotation of a field, in characters. Names of processes have at most 15, but a field may be forged. */
    private static final int LONGEST_FIELD = 64;

    /**
     * Reads a line; empty where no device in parentheses and no code follow.
     *
     * @param cursor the position behind "Xid"
     */
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

    /** Returns whether the number is a code. The beginning of a word is none, and the number of suppressed lines is none. */
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
