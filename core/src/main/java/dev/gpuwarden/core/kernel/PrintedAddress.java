package dev.gpuwarden.core.kernel;

import dev.gpuwarden.core.model.PciAddress;
import java.util.Optional;

/**
 * A reader of PCI addresses in kernel messages. The domain has four to eight digits or is missing, the function may be missing, and
 * virtual machines have devices beyond PCI's range. The function is dropped, because messages of one GPU print it or omit it.
 */
final class PrintedAddress {

    private PrintedAddress() {}

    /** Reads the address that begins here; empty and no move where none does. */
    static Optional<PciAddress> read(Cursor cursor) {
        int start = cursor.at;
        int[] parts = new int[3];
        int[] digits = new int[3];
        int count = 0;
        while (count < 3) {
            int from = cursor.at;
            int value = 0;
            while (Cursor.isHex(cursor.peek()) && cursor.at - from < 8) {
                value = value << 4 | Character.digit(cursor.peek(), 16);
                cursor.at++;
            }
            digits[count] = cursor.at - from;
            parts[count] = value;
            if (digits[count] == 0) {
                break;
            }
            count++;
            if (count == 3 || cursor.peek() != ':' || !hexFollows(cursor)) {
                break;
            }
            cursor.at++;
        }
        Optional<PciAddress> address = of(parts, digits, count);
        if (address.isPresent() && count > 1 && cursor.peek() == '.') {
            int dot = cursor.at++;
            if (cursor.number() < 0) {
                cursor.at = dot;
            }
        }
        if (address.isEmpty() || Cursor.isWord(cursor.peek())) {
            cursor.at = start;
            return Optional.empty();
        }
        return address;
    }

    private static boolean hexFollows(Cursor cursor) {
        return cursor.at + 1 < cursor.text.length() && Cursor.isHex(cursor.text.charAt(cursor.at + 1));
    }

    private static Optional<PciAddress> of(int[] parts, int[] digits, int count) {
        if (count == 3) {
            return digits[1] <= 2 && digits[2] <= 2
                    ? Optional.of(address(parts[0], parts[1], parts[2]))
                    : Optional.empty();
        }
        if (count == 2 && digits[1] <= 2) {
            // Domain and bus, or bus and device: a bus has two digits.
            return Optional.of(digits[0] > 2 ? address(parts[0], parts[1], 0) : address(0, parts[0], parts[1]));
        }
        return count == 1 && digits[0] <= 2 ? Optional.of(address(0, parts[0], 0)) : Optional.empty();
    }

    private static PciAddress address(int domain, int bus, int device) {
        return new PciAddress(domain, bus, device, 0);
    }

    /** Returns the first full address (domain, bus, device) from this position on; empty where there is none. */
    static Optional<PciAddress> first(String text, int from) {
        for (int i = from; i < text.length(); i++) {
            if (beginsAt(text, i)) {
                Cursor cursor = new Cursor(text, i);
                Optional<PciAddress> address = read(cursor);
                if (address.isPresent()) {
                    return address;
                }
            }
        }
        return Optional.empty();
    }

    /** Returns the last full address (domain, bus, device) from this position on; empty where there is none. */
    static Optional<PciAddress> last(String text, int from) {
        for (int i = text.length() - 1; i >= from; i--) {
            if (beginsAt(text, i)) {
                Optional<PciAddress> address = read(new Cursor(text, i));
                if (address.isPresent()) {
                    return address;
                }
            }
        }
        return Optional.empty();
    }

    /** Returns whether a word of four to eight hexadecimal digits and a colon begins here. */
    private static boolean beginsAt(String text, int i) {
        if (!Cursor.isHex(text.charAt(i))
                || i > 0 && (Cursor.isWord(text.charAt(i - 1)) || text.charAt(i - 1) == '.')) {
            return false;
        }
        int colon = i + 4;
        while (colon < i + 8 && colon < text.length() && Cursor.isHex(text.charAt(colon))) {
            colon++;
        }
        // "10de:2330", a pair of PCI IDs, has one colon only.
        return colonAt(text, colon) && (colonAt(text, colon + 3) || colonAt(text, colon + 2));
    }

    private static boolean colonAt(String text, int i) {
        return i < text.length() && text.charAt(i) == ':';
    }
}
