package dev.gpuwarden.cli.web;

import dev.gpuwarden.cli.FileErrors;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedTrustManager;

/** The TLS configuration of a server, made from files. No TLS class is loaded unless this class is used. */
final class ServerTls {

    private ServerTls() {}

    /**
     * Returns the context.
     *
     * @throws IOException with the name of a file that cannot be used
     */
    static SslContext context(WebConfig.Tls tls) throws IOException, GeneralSecurityException {
        try (InputStream certificate = open(tls.certificate());
                InputStream key = open(tls.key())) {
            SslContextBuilder builder = SslContextBuilder.forServer(certificate, key)
                    .sslProvider(SslProvider.JDK)
                    .protocols(tls.protocols())
                    .clientAuth(tls.clientAuth());
            if (!tls.ciphers().isEmpty()) {
                builder.ciphers(tls.ciphers());
            }
            if (tls.clientAuth() != ClientAuth.NONE) {
                builder.trustManager(
                        new AllowedClients(signedBy(tls.clientCa().orElseThrow()), Set.copyOf(tls.allowedSans())));
            }
            return builder.build();
        } catch (IllegalArgumentException e) {
            throw new IOException(
                    tls.certificate() + " or " + tls.key() + ": " + e.getMessage()
                            + "; expected PEM, the key without a password and in PKCS#8 (openssl pkcs8 -topk8 -nocrypt)",
                    e);
        }
    }

    private static InputStream open(Path file) throws IOException {
        try {
            return Files.newInputStream(file);
        } catch (IOException e) {
            throw new IOException(file + ": " + FileErrors.why(e), e);
        }
    }

    private static X509ExtendedTrustManager signedBy(Path ca) throws IOException, GeneralSecurityException {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        try (InputStream in = open(ca)) {
            Collection<? extends Certificate> certificates =
                    CertificateFactory.getInstance("X.509").generateCertificates(in);
            for (Certificate certificate : certificates) {
                store.setCertificateEntry("ca-" + store.size(), certificate);
            }
        } catch (CertificateException e) {
            throw new CertificateException(ca + ": expected certificates in PEM: " + e.getMessage(), e);
        }
        if (store.size() == 0) {
            throw new CertificateException(ca + ": expected certificates in PEM, found none");
        }
        TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        factory.init(store);
        return (X509ExtendedTrustManager) factory.getTrustManagers()[0];
    }

    /** Trust in clients that an authority signed and, of these, in the ones with an allowed name. */
    private static final class AllowedClients extends X509ExtendedTrustManager {

        private final X509ExtendedTrustManager signed;
        private final Set<String> allowedSans;

        AllowedClients(X509ExtendedTrustManager signed, Set<String> allowedSans) {
            this.signed = signed;
            this.allowedSans = allowedSans;
        }

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine)
                throws CertificateException {
            signed.checkClientTrusted(chain, type, engine);
            allowed(chain[0]);
        }

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket)
                throws CertificateException {
            signed.checkClientTrusted(chain, type, socket);
            allowed(chain[0]);
        }

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type) throws CertificateException {
            signed.checkClientTrusted(chain, type);
            allowed(chain[0]);
        }

        private void allowed(X509Certificate client) throws CertificateException {
            Collection<List<?>> names = client.getSubjectAlternativeNames();
            boolean known = allowedSans.isEmpty()
                    || names != null
                            && names.stream().anyMatch(name -> allowedSans.contains(String.valueOf(name.get(1))));
            if (!known) {
                throw new CertificateException("no name of the client's certificate is among client_allowed_sans");
            }
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine)
                throws CertificateException {
            throw new CertificateException("this is a server");
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket)
                throws CertificateException {
            throw new CertificateException("this is a server");
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type) throws CertificateException {
            throw new CertificateException("this is a server");
        }

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return signed.getAcceptedIssuers();
        }
    }
}
