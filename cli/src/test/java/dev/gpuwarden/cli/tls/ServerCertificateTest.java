package dev.gpuwarden.cli.tls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.cli.tls.ServerCertificate.Clients;
import dev.gpuwarden.cli.tls.ServerCertificate.PemFiles;
import dev.gpuwarden.cli.tls.ServerCertificate.Protocol;
import dev.gpuwarden.cli.web.ListenAddress;
import dev.gpuwarden.cli.web.WebLimits;
import dev.gpuwarden.cli.web.WebServer;
import dev.gpuwarden.cli.web.WebStats;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.JdkSslContext;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A server whose certificate and whose authorities of clients change while it runs, with certificates that openssl made. */
class ServerCertificateTest {

    private static final Protocol HTTPS =
            builder -> builder.sslProvider(SslProvider.JDK).build();

    @TempDir
    static Path keys;

    @TempDir
    Path folder;

    private final AtomicLong nanos = new AtomicLong();
    private final List<String> log = Collections.synchronizedList(new ArrayList<>());
    private final Logger logger = Logger.getLogger("dev.gpuwarden.cli.tls");
    private final Handler handler = new Handler() {
        @Override
        public void publish(LogRecord line) {
            log.add(line.getMessage());
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    };
    private WebServer server;

    @BeforeAll
    static void certificates() throws Exception {
        String ec = " -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes";
        for (String ca : List.of("old-ca", "new-ca")) {
            openssl("req -x509 -days 2 -subj /CN=" + ca + " -keyout " + ca + ".key -out " + ca + ".crt" + ec);
        }
        signed("server-1", "old-ca", ec);
        signed("server-2", "old-ca", " -newkey rsa:2048 -nodes");
        signed("client-1", "old-ca", ec);
        signed("client-2", "new-ca", ec);
    }

    private static void signed(String name, String ca, String kind) throws Exception {
        openssl("req -x509 -days 2 -subj /CN=" + name + " -addext subjectAltName=DNS:localhost"
                + " -addext basicConstraints=CA:FALSE -CA " + ca + ".crt -CAkey " + ca + ".key -keyout " + name
                + ".key -out " + name + ".crt" + kind);
    }

    private static void openssl(String arguments) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(("openssl " + arguments).split(" "))
                .directory(keys.toFile())
                .redirectErrorStream(true)
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(output).isZero();
    }

    @BeforeEach
    void record() {
        logger.addHandler(handler);
    }

    @AfterEach
    void close() {
        logger.removeHandler(handler);
        if (server != null) {
            server.close();
        }
    }

    private Path write(String file, String... from) throws IOException {
        StringBuilder all = new StringBuilder();
        for (String one : from) {
            all.append(Files.readString(keys.resolve(one)));
        }
        nanos.addAndGet(2_000_000_000L);
        return Files.writeString(folder.resolve(file), all);
    }

    private PemFiles files(Optional<Clients> clients) {
        return new PemFiles(folder.resolve("tls.crt"), folder.resolve("tls.key"), clients);
    }

    private void start(Optional<Clients> clients) {
        SslContext context = ServerCertificate.following("--test.tls", files(clients), HTTPS, nanos::get);
        server = WebServer.start(
                new ListenAddress("localhost", 0),
                List.of(),
                () -> Optional.of(context),
                WebLimits.PAGES,
                new WebStats());
    }

    /** Returns the subject of the server's certificate. */
    private String connect(String client) throws Exception {
        SslContextBuilder builder = SslContextBuilder.forClient()
                .sslProvider(SslProvider.JDK)
                .trustManager(keys.resolve("old-ca.crt").toFile());
        if (!client.isEmpty()) {
            builder.keyManager(
                    keys.resolve(client + ".crt").toFile(),
                    keys.resolve(client + ".key").toFile());
        }
        HttpResponse<Void> response = HttpClient.newBuilder()
                .sslContext(((JdkSslContext) builder.build()).context())
                .build()
                .send(
                        HttpRequest.newBuilder(URI.create(
                                        "https://localhost:" + server.address().getPort()))
                                .build(),
                        HttpResponse.BodyHandlers.discarding());
        X509Certificate certificate =
                (X509Certificate) response.sslSession().orElseThrow().getPeerCertificates()[0];
        return certificate.getSubjectX500Principal().getName();
    }

    @Test
    void renewedPairIsServedAndHalfOfOneIsNot() throws Exception {
        write("tls.crt", "server-1.crt");
        write("tls.key", "server-1.key");
        start(Optional.empty());
        assertThat(connect("")).isEqualTo("CN=server-1");
        write("tls.crt", "server-2.crt");
        for (int i = 0; i < 2; i++) {
            assertThat(connect("")).isEqualTo("CN=server-1");
            nanos.addAndGet(2_000_000_000L);
        }
        assertThat(log)
                .singleElement()
                .asString()
                .contains("--test.tls-cert ", "the previous ones stay in force", "found that of another certificate");
        write("tls.key", "server-2.key");
        assertThat(connect("")).isEqualTo("CN=server-2");
        assertThat(log.get(1)).contains("the changed files are in force");
        Files.delete(folder.resolve("tls.key"));
        nanos.addAndGet(2_000_000_000L);
        assertThat(connect("")).isEqualTo("CN=server-2");
        assertThat(log.get(2)).contains("tls.key: no such file");
    }

    @Test
    void clientsOfBothAuthoritiesAreAcceptedWhileOneReplacesTheOther() throws Exception {
        write("tls.crt", "server-1.crt");
        write("tls.key", "server-1.key");
        Path ca = write("ca.crt", "old-ca.crt");
        start(Optional.of(new Clients(ca, ClientAuth.REQUIRE, Set.of())));
        assertThat(connect("client-1")).isEqualTo("CN=server-1");
        assertThatThrownBy(() -> connect("client-2")).isInstanceOf(IOException.class);
        write("ca.crt", "old-ca.crt", "new-ca.crt");
        assertThat(connect("client-1")).isEqualTo("CN=server-1");
        assertThat(connect("client-2")).isEqualTo("CN=server-1");
        write("ca.crt", "new-ca.crt");
        assertThat(connect("client-2")).isEqualTo("CN=server-1");
        assertThatThrownBy(() -> connect("client-1")).isInstanceOf(IOException.class);
    }

    @Test
    void expiryIsLoggedOnce() throws Exception {
        Path both = write("tls.crt", "server-2.key", "server-2.crt");
        ServerCertificate certificate =
                ServerCertificate.load(new PemFiles(both, both, Optional.empty()), new ReloadedFiles.Seen(), HTTPS);
        Instant end = certificate.expires();
        assertThat(end).isBetween(Instant.now(), Instant.now().plusSeconds(3 * 86_400));
        certificate.contextAt(end);
        assertThat(log).isEmpty();
        certificate.contextAt(end.plusSeconds(1));
        certificate.contextAt(end.plusSeconds(2));
        assertThat(log).singleElement().asString().contains(both + " expired at " + end);
    }

    @Test
    void filesThatCannotBeUsedAreNamedAtTheStart() throws Exception {
        write("tls.crt", "server-1.crt");
        assertRefused("tls.key: no such file");
        write("tls.key", "server-1.crt");
        assertRefused("tls.key: expected a private key in PEM, without a password");
        write("tls.key", "client-1.key");
        assertRefused("expected the key of " + folder.resolve("tls.crt"));
        write("tls.key", "server-1.key");
        write("tls.crt", "server-1.key");
        assertRefused("tls.crt: expected certificates in PEM");
        Files.writeString(folder.resolve("tls.key"), "-----BEGIN PRIVATE KEY-----\n=A=A\n-----END PRIVATE KEY-----\n");
        write("tls.crt", "server-1.crt");
        assertRefused("tls.key");
    }

    private void assertRefused(String problem) {
        assertThatThrownBy(() -> ServerCertificate.following("--test.tls", files(Optional.empty()), HTTPS, nanos::get))
                .isInstanceOf(UserError.class)
                .hasMessageContaining("cannot use the TLS files --test.tls-cert ")
                .hasMessageContaining(problem);
    }
}
