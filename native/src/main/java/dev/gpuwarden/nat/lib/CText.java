package dev.gpuwarden.nat.lib;

import com.sun.jna.Pointer;
import dev.gpuwarden.core.SuppressForbidden;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** Text that a library wrote. It may be unterminated or not UTF-8. */
public final class CText {

    /** Longest text that is read from a pointer of unknown extent. */
    private static final int MAX_BYTES = 4096;

    private CText() {}

    /** Returns the bytes up to NUL or to the end as UTF-8. Invalid bytes and control characters become U+FFFD. */
    public static String decode(ByteBuffer from, int at, int bytes) {
        byte[] text = new byte[bytes];
        int length = 0;
        while (length < bytes && from.get(at + length) != 0) {
            text[length] = from.get(at + length);
            length++;
        }
        return clean(new String(text, 0, length, StandardCharsets.UTF_8));
    }

    /** Returns the text of a {@code const char *}; empty for NULL. */
    @SuppressForbidden("reads text that a library returned by pointer")
    public static String at(long address) {
        if (address == 0) {
            return "";
        }
        Pointer pointer = new Pointer(address);
        byte[] text = new byte[MAX_BYTES];
        int length = 0;
        while (length < MAX_BYTES && (text[length] = pointer.getByte(length)) != 0) {
            length++;
        }
        return clean(new String(text, 0, length, StandardCharsets.UTF_8));
    }

    /** Returns whether every character is printable ASCII, as in identifiers. */
    public static boolean isPlain(String text) {
        return text.chars().allMatch(c -> c >= 0x20 && c < 0x7f);
    }

    private static String clean(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (Character.isISOControl(text.charAt(i))) {
                return text.replaceAll("\\p{Cntrl}", "\uFFFD").strip();
            }
        }
        return text.strip();
    }
}
