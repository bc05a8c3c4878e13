package dev.gpuwarden.testkit.cluster;

import java.io.IOException;
import java.io.InputStream;
import java.net.Proxy;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import javax.net.ssl.HttpsURLConnection;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocketFactory;
import javax.net.ssl.TrustManagerFactory;

/** An anonymous HTTPS request to a component's health endpoint. The API server permits it once its own roles exist. */
final class ReadinessProbe {

    private static final int TIMEOUT_MILLIS = 5_000;

    private final URI uri;
    private final SSLSocketFactory sockets;

    ReadinessProbe(String url, String path, Path authority) {
        this.uri = URI.create(url + path);
        this.sockets = trusting(authority);
    }

    private static SSLSocketFactory trusting(Path authority) {
        try (InputStream in = Files.newInputStream(authority)) {
            KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
            store.load(null, null);
            store.setCertificateEntry(
                    "ca", CertificateFactory.getInstance("X.509").generateCertificate(in));
            TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            trust.init(store);
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(null, trust.getTrustManagers(), null);
            return context.getSocketFactory();
        } catch (IOException | GeneralSecurityException e) {
            throw new IllegalStateException(authority + ": expected a certificate", e);
        }
    }

    /** Returns true for status 200; blocks up to ten seconds. */
    boolean now() {
        try {
            HttpsURLConnection connection = (HttpsURLConnection) uri.toURL().openConnection(Proxy.NO_PROXY);
            connection.setSSLSocketFactory(sockets);
            connection.setConnectTimeout(TIMEOUT_MILLIS);
            connection.setReadTimeout(TIMEOUT_MILLIS);
            return connection.getResponseCode() == 200;
        } catch (IOException notYet) {
            return false;
        }
    }
}
