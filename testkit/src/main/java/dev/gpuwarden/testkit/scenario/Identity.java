package dev.gpuwarden.testkit.scenario;

import dev.gpuwarden.core.util.Sha256;
import java.math.BigInteger;

/** Identities that are equal on every run: derived from a seed that names the object. */
public final class Identity {

    private Identity() {}

    /** Returns a UUID of version 4. */
    public static String uuid(String seed) {
        String h = Sha256.hex(seed, 32);
        char variant = "89ab".charAt(Character.digit(h.charAt(16), 16) & 3);
        return h.substring(0, 8) + "-" + h.substring(8, 12) + "-4" + h.substring(13, 16) + "-" + variant
                + h.substring(17, 20) + "-" + h.substring(20);
    }

    /** Returns a board's serial number: 13 digits, the first three those of recent boards. */
    public static String serial(String seed) {
        BigInteger number = new BigInteger(Sha256.hex(seed, 16), 16).mod(BigInteger.TEN.pow(10));
        return "165" + "0".repeat(10 - number.toString().length()) + number;
    }
}
