package dev.gpuwarden.core.util;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Private keys in PEM. Java reads PKCS #8 alone, while kubeadm writes RSA keys by PKCS #1 and kubelets elliptic ones by SEC 1:
 * both get the PKCS #8 frame (RFC 5958) that they lack.
 */
public final class PrivateKeys {

    private static final Pattern BLOCK =
            Pattern.compile("-----BEGIN ((?:RSA |EC )?PRIVATE KEY)-----([^-]+)-----END \\1-----");
    /** RFC 8017, A.1: rsaEncryption, and the NULL that goes with it. */
    private static final byte[] RSA = HexFormat.of().parseHex("06092a864886f70d0101010500");
    /** RFC 5480, 2.1.1: id-ecPublicKey. */
    private static final byte[] EC = HexFormat.of().parseHex("06072a8648ce3d0201");

    private static final int SEQUENCE = 0x30;
    private static final int OCTETS = 0x04;
    /** RFC 5915: the curve's name is [0] of an EC private key. */
    private static final int CURVE = 0xa0;

    private PrivateKeys() {}

    /**
     * Returns the first private key in the text, which may hold certificates too.
     *
     * @param pem in ASCII
     * @param where the file or setting that holds the text, for messages
     * @throws IOException where there is no such key, or its kind is unknown
     * @throws GeneralSecurityException where the key cannot be decoded
     */
    public static PrivateKey parse(byte[] pem, String where) throws IOException, GeneralSecurityException {
        Matcher block = BLOCK.matcher(new String(pem, StandardCharsets.ISO_8859_1));
        if (!block.find()) {
            throw new IOException(where + ": expected a private key in PEM, without a password");
        }
        byte[] der = Base64.getMimeDecoder().decode(block.group(2));
        return switch (block.group(1)) {
            case "RSA PRIVATE KEY" -> key("RSA", framed(RSA, der));
            case "EC PRIVATE KEY" -> key("EC", framed(concat(EC, curve(der, where)), der));
            default -> any(der, where);
        };
    }

    private static PrivateKey key(String algorithm, byte[] pkcs8) throws GeneralSecurityException {
        return KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(pkcs8));
    }

    private static PrivateKey any(byte[] pkcs8, String where) throws IOException {
        for (String algorithm : new String[] {"RSA", "EC", "Ed25519"}) {
            try {
                return key(algorithm, pkcs8);
            } catch (GeneralSecurityException e) {
                // One of another kind, perhaps.
            }
        }
        throw new IOException(where + ": the private key is neither RSA nor EC nor Ed25519");
    }

    /** PrivateKeyInfo: version 0, the algorithm, the key. */
    private static byte[] framed(byte[] algorithm, byte[] key) {
        byte[] version = {0x02, 0x01, 0x00};
        return element(SEQUENCE, concat(version, element(SEQUENCE, algorithm), element(OCTETS, key)));
    }

    /** The object identifier in [0]: version, key, then this. */
    private static byte[] curve(byte[] der, String where) throws IOException {
        int[] at = {0};
        try {
            content(der, at, SEQUENCE);
            skip(der, at);
            skip(der, at);
            int length = content(der, at, CURVE);
            return Arrays.copyOfRange(der, at[0], at[0] + length);
        } catch (IndexOutOfBoundsException e) {
            throw new IOException(where + ": the EC private key does not name its curve");
        }
    }

    private static void skip(byte[] der, int[] at) {
        int length = content(der, at, der[at[0]] & 0xff);
        at[0] += length;
    }

    /** Moves to the content of the element, which must have this tag; its length. */
    private static int content(byte[] der, int[] at, int tag) {
        if ((der[at[0]++] & 0xff) != tag) {
            throw new IndexOutOfBoundsException("another element");
        }
        int length = der[at[0]++] & 0xff;
        if (length < 0x80) {
            return length;
        }
        int bytes = length & 0x7f;
        length = 0;
        for (int i = 0; i < bytes; i++) {
            length = length << 8 | der[at[0]++] & 0xff;
        }
        return length;
    }

    private static byte[] element(int tag, byte[] content) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.write(tag);
        if (content.length < 0x80) {
            out.write(content.length);
        } else if (content.length < 0x100) {
            out.write(0x81);
            out.write(content.length);
        } else {
            // A key of RSA with 16,384 bits has 9,000 bytes.
            out.write(0x82);
            out.write(content.length >> 8);
            out.write(content.length);
        }
        out.writeBytes(content);
        return out.toByteArray();
    }

    private static byte[] concat(byte[]... parts) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            out.writeBytes(part);
        }
        return out.toByteArray();
    }
}
