package dev.gpuwarden.testkit.cluster;

import com.sun.net.httpserver.HttpExchange;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
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
import java.util.List;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** The way from a proxy on to the API server. Thread-safe. */
final class Passing {

    private static final List<String> PASSED = List.of("Accept", "Authorization", "Content-Type", "User-Agent");
    private static final char[] NO_PASSWORD = {};

    private final String target;
    /** Two, since a certificate counts more than a token beside it. */
    private final HttpClient admin;

    private final HttpClient others;

    Passing(ControlPlane plane) throws IOException {
        this.target = plane.url();
        try {
            this.admin = client(context(plane, true));
            this.others = client(context(plane, false));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("the keys of " + plane.url() + ": expected those that it was made with", e);
        }
    }

    private static HttpClient client(SSLContext context) {
        return HttpClient.newBuilder()
                .sslContext(context)
                .version(HttpClient.Version.HTTP_1_1)
                .build();
    }

    private static SSLContext context(ControlPlane plane, boolean asAdmin)
            throws IOException, GeneralSecurityException {
        KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
        trusted.load(null, NO_PASSWORD);
        trusted.setCertificateEntry("ca", certificate(plane.caCertificate()));
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(trusted);
        KeyStore own = KeyStore.getInstance(KeyStore.getDefaultType());
        own.load(null, NO_PASSWORD);
        if (asAdmin) {
            Certificate[] chain = {certificate(plane.adminCertificate())};
            own.setKeyEntry("admin", key(plane.adminKey()), NO_PASSWORD, chain);
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

    /** As openssl 3 writes it. */
    private static PrivateKey key(Path file) throws IOException, GeneralSecurityException {
        String pem = Files.readString(file, StandardCharsets.US_ASCII).replaceAll("-----[A-Z ]+-----", "");
        return KeyFactory.getInstance("EC")
                .generatePrivate(new PKCS8EncodedKeySpec(Base64.getMimeDecoder().decode(pem)));
    }

    HttpResponse<InputStream> send(HttpExchange exchange, byte[] body) throws IOException, InterruptedException {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(target + exchange.getRequestURI()))
                .method(exchange.getRequestMethod(), BodyPublishers.ofByteArray(body));
        for (String name : PASSED) {
            exchange.getRequestHeaders().getOrDefault(name, List.of()).forEach(value -> request.header(name, value));
        }
        boolean token = exchange.getRequestHeaders().containsKey("Authorization");
        return (token ? others : admin).send(request.build(), BodyHandlers.ofInputStream());
    }
}
