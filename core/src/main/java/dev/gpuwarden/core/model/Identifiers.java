package dev.gpuwarden.core.model;

import java.util.Collection;
import java.util.Locale;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The one form of each identifier that other programs and users write. Programs differ in the case of hexadecimal digits, in
 * leading zeros and in spaces around. The reader of an identifier calls this class once, where the text enters. All comparisons
 * behind it are {@code equals}. A text that is no identifier stays as it is, without the spaces around it. Pure.
 */
public final class Identifiers {

    private static final Pattern UUID = Pattern.compile(
            "(?:MIG-)?(?:GPU|MIG)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", Pattern.CASE_INSENSITIVE);

    /** Characters of a UUID of a GPU or a MIG device: the prefix of three letters, a hyphen and 36 characters. */
    private static final int UUID_LENGTH = 40;

    private static final int PREFIX = 3;

    /** Characters of `0000:3b:00`. */
    private static final int SLOT_LENGTH = 10;

    private Identifiers() {}

    /**
     * Returns the name of a GPU, a MIG device, or a device that contains such a name, such as {@code GPU-...::2} of a shared GPU.
     * Each UUID in it gets the spelling of the driver: the prefix in capital letters, the digits in small ones.
     */
    public static String gpu(String text) {
        if (isCanonicalUuid(text)) {
            return text;
        }
        String name = text.strip();
        Matcher uuid = UUID.matcher(name);
        if (!uuid.find()) {
            return name;
        }
        StringBuilder canonical = new StringBuilder(name.length());
        do {
            uuid.appendReplacement(canonical, uuid(uuid.group()));
        } while (uuid.find());
        return uuid.appendTail(canonical).toString();
    }

    /** Returns the names of GPUs, each once, in order. */
    public static SortedSet<String> gpus(Collection<String> texts) {
        SortedSet<String> names = new TreeSet<>();
        texts.forEach(text -> names.add(gpu(text)));
        return names;
    }

    private static String uuid(String found) {
        int digits = found.length() - (UUID_LENGTH - PREFIX - 1);
        return found.substring(0, digits).toUpperCase(Locale.ROOT)
                + found.substring(digits).toLowerCase(Locale.ROOT);
    }

    private static boolean isCanonicalUuid(String text) {
        if (text.length() != UUID_LENGTH || !text.startsWith("GPU-") && !text.startsWith("MIG-")) {
            return false;
        }
        for (int i = PREFIX + 1; i < UUID_LENGTH; i++) {
            char c = text.charAt(i);
            boolean hyphen = i == 12 || i == 17 || i == 22 || i == 27;
            if (hyphen ? c != '-' : !isSmallDigit(c)) {
                return false;
            }
        }
        return true;
    }

    /**
     * Returns the PCI address of an event: `0000:3b:00`, as the kernel log writes it, with a function only if it is another
     * than 0.
     */
    public static String pciSlot(String text) {
        if (isCanonicalSlot(text)) {
            return text;
        }
        Optional<PciAddress> address = PciAddress.parse(text);
        if (address.isEmpty()) {
            return text.strip();
        }
        String whole = address.get().toString();
        return address.get().function() == 0 ? whole.substring(0, whole.length() - 2) : whole;
    }

    private static boolean isCanonicalSlot(String text) {
        if (text.length() != SLOT_LENGTH) {
            return false;
        }
        for (int i = 0; i < SLOT_LENGTH; i++) {
            char c = text.charAt(i);
            boolean colon = i == 4 || i == 7;
            if (colon ? c != ':' : !isSmallDigit(c)) {
                return false;
            }
        }
        // A device number has five bits.
        return text.charAt(8) < '2';
    }

    private static boolean isSmallDigit(char c) {
        return c >= '0' && c <= '9' || c >= 'a' && c <= 'f';
    }

    /** Returns the name of a Node, which Kubernetes requires in small letters. */
    public static String node(String text) {
        return text.strip().toLowerCase(Locale.ROOT);
    }

    /** Returns a boot ID or the UID of an object, which are UUIDs in small letters. */
    public static String uid(String text) {
        return text.strip().toLowerCase(Locale.ROOT);
    }
}
