package dev.gpuwarden.core.kernel;

import java.util.Optional;

/** `INFO: task nvidia-smi:12345 blocked for more than 120 seconds.` */
final class HungTask {

    private HungTask() {}

    /** @param cursor behind "INFO: task " */
    static Signal named(Signal signal, Cursor cursor) {
        // A name may hold colons, the number behind the last one before " blocked" does not.
        int end = cursor.text.indexOf(" blocked", cursor.at);
        int colon = end < 0 ? -1 : cursor.text.lastIndexOf(':', end);
        if (colon <= cursor.at) {
            return signal;
        }
        return signal.by(
                Optional.of(cursor.text.substring(colon + 1, end)),
                Optional.of(cursor.text.substring(cursor.at, colon)));
    }
}
