package dev.gpuwarden.daemon.kernlog;

import dev.gpuwarden.core.kernel.KernelRecord;
import dev.gpuwarden.core.kernel.KernelRecord.Writer;
import java.util.Optional;

/**
 * One record in the form of /dev/kmsg: {@code 6,339,5140900,-,caller=T1;text}. Lines {@code  KEY=value} behind it are skipped
 * (Documentation/ABI/testing/dev-kmsg).
 *
 * @param sequence the number of the record, which rises by one with each record of a boot
 * @param micros the time since boot, in microseconds
 */
record KmsgRecord(Writer writer, long sequence, long micros, String text) {

    /** The kernel's own facility. The kernel replaces it by 1 in records from user space. */
    private static final int KERNEL_FACILITY = 0;

    /** Reads a record; empty for other bytes. */
    static Optional<KmsgRecord> parse(byte[] bytes, int from, int to) {
        int at = from;
        long[] numbers = new long[3];
        for (int field = 0; field < 3; field++) {
            int start = at;
            long value = 0;
            while (at < to && bytes[at] >= '0' && bytes[at] <= '9' && at - start < 19) {
                value = value * 10 + bytes[at++] - '0';
            }
            if (at == start || at >= to || bytes[at] != ',' || value < 0) {
                return Optional.empty();
            }
            numbers[field] = value;
            at++;
        }
        while (at < to && bytes[at] != ';' && bytes[at] != '\n') {
            at++;
        }
        if (at >= to || bytes[at] != ';') {
            return Optional.empty();
        }
        at++;
        int end = at;
        boolean escaped = false;
        while (end < to && bytes[end] != '\n') {
            escaped |= bytes[end] == '\\';
            end++;
        }
        Writer writer = numbers[0] >> 3 == KERNEL_FACILITY ? Writer.KERNEL : Writer.PRIVILEGED;
        String text = escaped ? unescaped(bytes, at, end) : KernelRecord.clean(bytes, at, end);
        return Optional.of(new KmsgRecord(writer, numbers[1], numbers[2], text));
    }

    /** Decodes {@code \x0a}, the kernel's form of bytes that are not printable ASCII, and of the backslash. */
    private static String unescaped(byte[] bytes, int from, int to) {
        byte[] plain = new byte[to - from];
        int length = 0;
        int i = from;
        while (i < to) {
            int value = bytes[i] == '\\' && i + 3 < to && bytes[i + 1] == 'x' ? hex(bytes[i + 2], bytes[i + 3]) : -1;
            plain[length++] = value >= 0 ? (byte) value : bytes[i];
            i += value >= 0 ? 4 : 1;
        }
        return KernelRecord.clean(plain, 0, length);
    }

    private static int hex(byte high, byte low) {
        int h = Character.digit(high, 16);
        int l = Character.digit(low, 16);
        return h < 0 || l < 0 ? -1 : h << 4 | l;
    }
}
