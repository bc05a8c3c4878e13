package dev.gpuwarden.daemon.kernlog;

import dev.gpuwarden.core.kernel.KernelRecord;
import java.nio.charset.StandardCharsets;

/** Makes text that is safe to show and to store from the bytes of a log. */
final class RecordText {

    private RecordText() {}

    /** Bad UTF-8 and control characters become visible replacements; line breaks and tabs become spaces. */
    static String of(byte[] bytes, int from, int to) {
        // A character has at most 4 bytes.
        int end = Math.min(to, from + 4 * KernelRecord.LONGEST);
        for (int i = from; i < end; i++) {
            if (bytes[i] < 0x20 || bytes[i] == 0x7f) {
                return clean(new String(bytes, from, end - from, StandardCharsets.UTF_8));
            }
        }
        return cut(new String(bytes, from, end - from, StandardCharsets.ISO_8859_1));
    }

    static String clean(String text) {
        String cut = cut(text);
        StringBuilder clean = new StringBuilder(cut.length());
        for (int i = 0; i < cut.length(); i++) {
            char c = cut.charAt(i);
            if (c == '\n' || c == '\t' || c == '\r') {
                clean.append(' ');
            } else if (Character.isISOControl(c) || Character.getType(c) == Character.FORMAT || loneSurrogate(cut, i)) {
                clean.append('\ufffd');
            } else {
                clean.append(c);
            }
        }
        return clean.toString();
    }

    private static boolean loneSurrogate(String text, int i) {
        char c = text.charAt(i);
        if (Character.isHighSurrogate(c)) {
            return i + 1 == text.length() || !Character.isLowSurrogate(text.charAt(i + 1));
        }
        return Character.isLowSurrogate(c) && (i == 0 || !Character.isHighSurrogate(text.charAt(i - 1)));
    }

    private static String cut(String text) {
        return text.length() <= KernelRecord.LONGEST ? text : text.substring(0, KernelRecord.LONGEST);
    }
}
