package dev.gpuwarden.daemon.kube;

import dev.gpuwarden.core.util.PrivateKeys;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;

/** A snapshot of an access's certificates, which shows when they are renewed. */
final class KubeTls {

    private final KubeAccess access;
    private final List<byte[]> read = new ArrayList<>();

    private KubeTls(KubeAccess access) throws IOException {
        this.access = access;
        if (access.ca().isPresent()) {
            read.add(access.ca().get().read());
        }
        if (access.identity().isPresent()) {
            read.add(access.identity().get().certificate().read());
            read.add(access.identity().get().key().read());
        }
    }

    /** Reads the files. */
    static KubeTls read(KubeAccess access) throws IOException {
        return new KubeTls(access);
    }

    boolean same(@Nullable KubeTls other) {
        if (other == null || other.read.size() != read.size()) {
            return false;
        }
        for (int i = 0; i < read.size(); i++) {
            if (!Arrays.equals(read.get(i), other.read.get(i))) {
                return false;
            }
        }
        return true;
    }

    /** @throws IOException with the name of the file that cannot be used */
    SSLContext context() throws IOException {
        try {
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(keys(), trust(), null);
            return context;
        } catch (GeneralSecurityException e) {
            throw new IOException("certificates of " + access.origin() + ": " + e.getMessage(), e);
        }
    }

    private TrustManager @Nullable [] trust() throws IOException, GeneralSecurityException {
        Optional<CredentialSource> ca = access.ca();
        if (ca.isEmpty()) {
            return null;
        }
        KeyStore store = empty();
        int i = 0;
        for (Certificate certificate : certificates(read.get(0), ca.get())) {
            store.setCertificateEntry("ca" + i++, certificate);
        }
        TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        factory.init(store);
        return factory.getTrustManagers();
    }

    private KeyManager @Nullable [] keys() throws IOException, GeneralSecurityException {
        if (access.identity().isEmpty()) {
            return null;
        }
        KubeAccess.Identity identity = access.identity().get();
        int first = access.ca().isPresent() ? 1 : 0;
        Certificate[] chain =
                certificates(read.get(first), identity.certificate()).toArray(new Certificate[0]);
        KeyStore store = empty();
        store.setKeyEntry(
                "node", PrivateKeys.parse(read.get(first + 1), identity.key().toString()), new char[0], chain);
        KeyManagerFactory factory = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        factory.init(store, new char[0]);
        return factory.getKeyManagers();
    }

    private static KeyStore empty() throws IOException, GeneralSecurityException {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        return store;
    }

    /** Returns one or more certificates. Keys between them, as in a kubelet's file, are skipped. */
    private static Collection<? extends Certificate> certificates(byte[] pem, CredentialSource from)
            throws IOException, GeneralSecurityException {
        String text = new String(pem, java.nio.charset.StandardCharsets.ISO_8859_1)
                .replaceAll("-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*-----END [A-Z ]*PRIVATE KEY-----", "");
        Collection<? extends Certificate> found;
        try {
            found = CertificateFactory.getInstance("X.509")
                    .generateCertificates(
                            new ByteArrayInputStream(text.getBytes(java.nio.charset.StandardCharsets.ISO_8859_1)));
        } catch (GeneralSecurityException e) {
            throw new IOException(from + ": not certificates in PEM: " + e.getMessage(), e);
        }
        if (found.isEmpty()) {
            throw new IOException(from + ": expected a certificate in PEM, but there is none");
        }
        return found;
    }
}
