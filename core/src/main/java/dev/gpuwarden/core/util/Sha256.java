package dev.gpuwarden.core.util;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** SHA-256 digests of texts in UTF-8. */
public final class Sha256 {

    private Sha256() {}

    /** Returns the whole digest: 64 lower-case hexadecimal digits. */
    public static String hex(String text) {
        return HexFormat.of().formatHex(digest().digest(text.getBytes(StandardCharsets.UTF_8)));
    }

    /**
     * Returns the beginning of the digest.
     *
     * @param digits 64 at most
     */
    public static String hex(String text, int digits) {
        return hex(text).substring(0, digits);
    }

    /** Returns an empty digest, for content that is no text. */
    public static MessageDigest digest() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }
}
