package dev.gpuwarden.cli.tls;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;

/** Certificates in PEM, and trust in those that they have signed. */
public final class PemCertificates {

    private static final String BEGIN = "-----BEGIN CERTIFICATE-----";

    private static final Pattern CERTIFICATE = Pattern.compile(BEGIN + "[^-]*-----END CERTIFICATE-----");

    private PemCertificates() {}

    /**
     * Returns one or more certificates. Other blocks between them are skipped: keys in a kubelet's file, parameters of other programs.
     *
     * @param pem in ASCII
     * @param where the file or setting that holds the text, for messages
     * @throws IOException where one of them cannot be decoded, or there is none
     */
    public static List<X509Certificate> parse(byte[] pem, String where) throws IOException {
        String all = new String(pem, StandardCharsets.ISO_8859_1);
        List<String> blocks =
                CERTIFICATE.matcher(all).results().map(MatchResult::group).toList();
        if (blocks.size() < all.split(BEGIN, -1).length - 1) {
            throw new IOException(where + ": expected certificates in PEM: one of them has no end");
        }
        byte[] text = String.join("\n", blocks).getBytes(StandardCharsets.ISO_8859_1);
        List<X509Certificate> found;
        try {
            found =
                    CertificateFactory.getInstance("X.509")
                            .generateCertificates(new ByteArrayInputStream(text))
                            .stream()
                            .map(X509Certificate.class::cast)
                            .toList();
        } catch (GeneralSecurityException e) {
            throw new IOException(where + ": expected certificates in PEM: " + e.getMessage(), e);
        }
        if (found.isEmpty()) {
            throw new IOException(where + ": expected certificates in PEM, found none");
        }
        return found;
    }

    /** Returns Java's checks of a chain that ends at one of the authorities. */
    public static TrustManager[] signedBy(List<X509Certificate> authorities)
            throws IOException, GeneralSecurityException {
        KeyStore store = emptyStore();
        for (X509Certificate authority : authorities) {
            store.setCertificateEntry("ca-" + store.size(), authority);
        }
        TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        factory.init(store);
        return factory.getTrustManagers();
    }

    /** Returns a store in memory. */
    public static KeyStore emptyStore() throws IOException, GeneralSecurityException {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        return store;
    }
}
