package dev.gpuwarden.core.kernel;

import java.util.Optional;

/** UUIDs of GPUs in messages. */
final class GpuUuid {

    private static final int SHORTEST = 8;
    private static final int LONGEST = 40;

    private GpuUuid() {}

    /** `GPU-` and hexadecimal digits with hyphens; empty, and the cursor where it was, if no such thing stands here. */
    static Optional<String> read(Cursor cursor) {
        int start = cursor.at;
        if (!cursor.skip("GPU-")) {
            return Optional.empty();
        }
        while (Cursor.isHex(cursor.peek()) || cursor.peek() == '-') {
            cursor.at++;
        }
        int length = cursor.at - start;
        if (length < SHORTEST || length > LONGEST || Cursor.isWord(cursor.peek())) {
            cursor.at = start;
            return Optional.empty();
        }
        return Optional.of(cursor.text.substring(start, cursor.at));
    }
}
