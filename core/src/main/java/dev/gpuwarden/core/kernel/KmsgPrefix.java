package dev.gpuwarden.core.kernel;

/** `4,1234,5678,-,caller=T1;`, as /dev/kmsg writes it before a message: facility and level, number, microseconds, flags. */
final class KmsgPrefix {

    private KmsgPrefix() {}

    /** Where the message begins; 0 where no such prefix stands. */
    static int end(String line) {
        // No cursor: this is asked of every line that begins with a digit, and a line that says nothing costs no
        // memory.
        int at = 0;
        for (int field = 0; field < 3; field++) {
            int start = at;
            while (at < line.length() && Cursor.isDigit(line.charAt(at))) {
                at++;
            }
            if (at == start || at == line.length() || line.charAt(at++) != ',') {
                return 0;
            }
        }
        int semicolon = line.indexOf(';', at);
        return semicolon < 0 || semicolon > LinePrefix.LONGEST ? 0 : semicolon + 1;
    }

    /** Whether a line that has the prefix was written by a program: the kernel gives programs another facility than its own. */
    static boolean byProgram(String line) {
        int priority = new Cursor(line, 0).number();
        return priority < 0 || priority > 7;
    }
}
