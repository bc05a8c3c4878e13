package dev.gpuwarden.testkit.sim;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A record of the kernel log without number and time.
 *
 * @param priority facility * 8 + level
 * @param tags `KEY=value`, the kernel's identification of the device
 */
record KernelLine(int priority, String text, List<String> tags) {

    /** The level of lines without one (default_message_loglevel), the driver's included. */
    static final int WARNING = 4;

    static final int ERROR = 3;

    static final int INFO = 6;

    /** printk.c, LOG_LINE_MAX: longer lines are cut. */
    private static final int LONGEST = 1024;

    private static final int USER = 1 << 3;
    private static final Pattern LEVEL = Pattern.compile("<(\\d{1,3})>");

    /** Returns a line of the kernel itself; `<3>` before the text is the level. */
    static KernelLine kernel(String text) {
        return of(0, text);
    }

    /** Returns a line that a process writes to /dev/kmsg: the level of `<N>` is kept, the facility is never the kernel's. */
    static KernelLine user(String text) {
        return of(USER, text);
    }

    private static KernelLine of(int facility, String text) {
        Matcher m = LEVEL.matcher(text);
        if (!m.lookingAt()) {
            return new KernelLine(facility | WARNING, text, List.of());
        }
        int named = Integer.parseInt(m.group(1));
        return new KernelLine(
                (named >> 3 == 0 || facility == 0 ? facility : named & ~7) | named & 7,
                text.substring(m.end()),
                List.of());
    }

    /** Returns a line of the kernel about a device, with the device's tags. */
    static KernelLine device(int level, String address, String text) {
        return new KernelLine(level, text, List.of("SUBSYSTEM=pci", "DEVICE=+pci:" + address));
    }

    /** Returns the record as /dev/kmsg delivers it, line ends included. */
    String record(long sequence, long micros) {
        StringBuilder record = new StringBuilder(text.length() + 40)
                .append(priority)
                .append(',')
                .append(sequence)
                .append(',')
                .append(micros)
                .append(",-;");
        escape(text, record);
        record.append('\n');
        for (String tag : tags) {
            record.append(' ');
            escape(tag, record);
            record.append('\n');
        }
        return record.toString();
    }

    /** printk.c, msg_add_ext_text. */
    private static void escape(String text, StringBuilder to) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        for (int i = 0; i < Math.min(bytes.length, LONGEST); i++) {
            int c = bytes[i] & 0xff;
            if (c < ' ' || c >= 127 || c == '\\') {
                to.append(String.format(Locale.ROOT, "\\x%02x", c));
            } else {
                to.append((char) c);
            }
        }
    }
}
