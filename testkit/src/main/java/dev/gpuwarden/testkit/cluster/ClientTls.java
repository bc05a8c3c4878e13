package dev.gpuwarden.testkit.cluster;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** The TLS settings of Java clients that trust one authority alone. */
public final class ClientTls {

    private static final char[] NO_PASSWORD = {};

    private ClientTls() {}

    /** @param asAdmin true for the administrator's client certificate, false for none */
    static SSLContext context(ControlPlane plane, boolean asAdmin) {
        return asAdmin
                ? context(plane.caCertificate(), plane.adminCertificate(), plane.adminKey())
                : context(plane.caCertificate());
    }

    /** @param own the client's certificate and its key, in PEM; empty for a client without */
    public static SSLContext context(Path authority, Path... own) {
        try {
            return read(authority, own);
        } catch (IOException | GeneralSecurityException e) {
            throw new IllegalStateException(authority + ": expected a certificate, and the keys made with it", e);
        }
    }

    private static SSLContext read(Path authority, Path... client) throws IOException, GeneralSecurityException {
        KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
        trusted.load(null, NO_PASSWORD);
        trusted.setCertificateEntry("ca", certificate(authority));
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(trusted);
        // The default type derives a key from the password that is none, twice for each context: 0.2 s of a processor.
        KeyStore own = KeyStore.getInstance("JKS");
        own.load(null, NO_PASSWORD);
        if (client.length > 0) {
            Certificate[] chain = {certificate(client[0])};
            own.setKeyEntry("admin", key(client[1]), NO_PASSWORD, chain);
        }
        KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keys.init(own, NO_PASSWORD);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(keys.getKeyManagers(), trust.getTrustManagers(), null);
        return context;
    }

    private static Certificate certificate(Path file) throws IOException, GeneralSecurityException {
        return CertificateFactory.getInstance("X.509")
                .generateCertificate(new ByteArrayInputStream(Files.readAllBytes(file)));
    }

    /** Reads a private key as openssl 3 writes it. */
    private static PrivateKey key(Path file) throws IOException, GeneralSecurityException {
        String pem = Files.readString(file, StandardCharsets.US_ASCII).replaceAll("-----[A-Z ]+-----", "");
        return KeyFactory.getInstance("EC")
                .generatePrivate(new PKCS8EncodedKeySpec(Base64.getMimeDecoder().decode(pem)));
    }
}
