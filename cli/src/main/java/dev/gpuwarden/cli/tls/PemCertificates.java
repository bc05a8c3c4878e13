package dev.gpuwarden.cli.tls;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.regex.Pattern;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;

/** Certificates in PEM, and trust in those that they have signed. */
public final class PemCertificates {

    private static final Pattern KEY =
            Pattern.compile("-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*-----END [A-Z ]*PRIVATE KEY-----");

    private PemCertificates() {}

    /**
     * Returns one or more certificates. Keys between them, as in a kubelet's file, are skipped.
     *
     * @param pem in ASCII
     * @param where the file or setting that holds the text, for messages
     * @throws IOException where one of them cannot be decoded, or there is none
     */
    public static List<X509Certificate> parse(byte[] pem, String where) throws IOException {
        byte[] text = KEY.matcher(new String(pem, StandardCharsets.ISO_8859_1))
                .replaceAll("")
                .getBytes(StandardCharsets.ISO_8859_1);
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
