package dev.gpuwarden.testkit.scenario;

import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** Identities that are the same on every run: made from a text that names the thing. */
public final class Identity {

    private Identity() {}

    /** As many lower-case hexadecimal digits, at most 64. */
    public static String hex(String seed, int digits) {
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(seed.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(hash).substring(0, digits);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }

    /** A random-looking UUID of version 4. */
    public static String uuid(String seed) {
        String h = hex(seed, 32);
        char variant = "89ab".charAt(Character.digit(h.charAt(16), 16) & 3);
        return h.substring(0, 8) + "-" + h.substring(8, 12) + "-4" + h.substring(13, 16) + "-" + variant
                + h.substring(17, 20) + "-" + h.substring(20);
    }

    /** A board's serial number: 13 digits, the first three as on real boards of the last years. */
    public static String serial(String seed) {
        BigInteger number = new BigInteger(hex(seed, 16), 16).mod(BigInteger.TEN.pow(10));
        return "165" + "0".repeat(10 - number.toString().length()) + number;
    }
}
