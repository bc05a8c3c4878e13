package dev.gpuwarden.cli.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import at.favre.lib.crypto.bcrypt.BCrypt;
import dev.gpuwarden.cli.UserError;
import io.netty.handler.ssl.JdkSslContext;
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
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import javax.net.ssl.SSLException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Access over TLS, with Java's own client and certificates that openssl made. */
class WebAccessTest {

    @TempDir
    static Path keys;

    @TempDir
    Path folder;

    private final AtomicLong nanos = new AtomicLong();
    private WebServer server;

    @BeforeAll
    static void certificates() throws Exception {
        String ec = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes";
        openssl("req -x509 -days 2 -subj /CN=ca -keyout ca.key -out ca.crt " + ec);
        for (String name : List.of("localhost", "prometheus", "stranger")) {
            openssl("req -x509 -days 2 -subj /CN=" + name + " -addext subjectAltName=DNS:" + name
                    + " -addext basicConstraints=CA:FALSE -CA ca.crt -CAkey ca.key -keyout " + name + ".key -out "
                    + name + ".crt " + ec);
        }
    }

    private static void openssl(String arguments) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(("openssl " + arguments).split(" "))
                .directory(keys.toFile())
                .redirectErrorStream(true)
                .start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(said).isZero();
    }

    @AfterEach
    void close() {
        if (server != null) {
            server.close();
        }
    }

    private Path config(String yaml) throws IOException {
        return Files.writeString(folder.resolve("web.yml"), yaml);
    }

    private static String tls(String more) {
        return "tls_server_config:\n  cert_file: " + keys.resolve("localhost.crt") + "\n  key_file: "
                + keys.resolve("localhost.key") + "\n" + more;
    }

    /** Answers how the request came. */
    private void start(String yaml, boolean guarded) throws IOException {
        WebAccess access = new WebAccess(Optional.of(config(yaml)), nanos::get);
        HttpHandler handler = new HttpHandler() {
            @Override
            public boolean has(String path) {
                return true;
            }

            @Override
            public HttpAnswer answer(Request request) {
                return HttpAnswer.text(
                        200, (request.isSecure() ? "secure" : "plain") + (request.isProven() ? " proven" : ""));
            }

            @Override
            public boolean isGuarded() {
                return guarded;
            }
        };
        server = WebServer.start(
                new ListenAddress("localhost", 0),
                List.of(new LoginHandler(handler, new BasicAuth(access::users, nanos::get))),
                access::tls,
                WebLimits.PAGES,
                new WebStats());
    }

    /** @param name whose certificate the client shows; empty: none */
    private String get(String name, String authorization) throws Exception {
        SslContextBuilder builder = SslContextBuilder.forClient()
                .sslProvider(SslProvider.JDK)
                .trustManager(keys.resolve("ca.crt").toFile());
        if (!name.isEmpty()) {
            builder.keyManager(
                    keys.resolve(name + ".crt").toFile(),
                    keys.resolve(name + ".key").toFile());
        }
        HttpClient client = HttpClient.newBuilder()
                .sslContext(((JdkSslContext) builder.build()).context())
                .connectTimeout(Duration.ofSeconds(20))
                .build();
        HttpRequest.Builder request =
                HttpRequest.newBuilder(URI.create(server.url().replace("127.0.0.1", "localhost")));
        if (!authorization.isEmpty()) {
            request.header("Authorization", authorization);
        }
        HttpResponse<String> response = client.send(request.build(), HttpResponse.BodyHandlers.ofString());
        return response.statusCode() == 200 ? response.body() : String.valueOf(response.statusCode());
    }

    private static String basic(String user, String password) {
        return "Basic " + Base64.getEncoder().encodeToString((user + ":" + password).getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void clientCertificateProvesIdentity() throws Exception {
        start(
                tls("  client_ca_file: " + keys.resolve("ca.crt")
                        + "\n  client_auth_type: VerifyClientCertIfGiven\n  client_allowed_sans: [prometheus]\n"),
                false);
        assertThat(server.url()).startsWith("https://");
        assertThat(get("prometheus", "")).isEqualTo("secure proven");
        assertThat(get("", "")).isEqualTo("secure");
        assertThatThrownBy(() -> get("stranger", "")).isInstanceOf(IOException.class);
    }

    @Test
    void missingRequiredCertificateGetsNoAnswer() throws Exception {
        start(
                tls("  client_ca_file: " + keys.resolve("ca.crt")
                        + "\n  client_auth_type: RequireAndVerifyClientCert\n"),
                false);
        assertThatThrownBy(() -> get("", "")).isInstanceOf(IOException.class);
        assertThat(get("stranger", "")).isEqualTo("secure proven");
    }

    @Test
    void changedFilesApplyAndBrokenOnesDoNot() throws Exception {
        start(tls(""), false);
        assertThat(get("", "")).isEqualTo("secure");
        config("tls_server_config: {cert_file: nowhere.crt, key_file: nowhere.key}\n");
        nanos.addAndGet(2_000_000_000L);
        assertThat(get("", "")).isEqualTo("secure");
        config("basic_auth_users: {}\n");
        nanos.addAndGet(2_000_000_000L);
        assertThat(server.url()).startsWith("http://");
        assertThat(get("", "")).isEqualTo("plain");
    }

    @Test
    void usersNeedTheirPasswordAndWrongOnesAreLimited() throws Exception {
        start(
                "basic_auth_users:\n  me: " + BCrypt.withDefaults().hashToString(4, "secret".toCharArray()) + "\n",
                false);
        assertThat(get("", "")).isEqualTo("401");
        assertThat(get("", basic("other", "secret"))).isEqualTo("401");
        assertThat(get("", "Bearer secret")).isEqualTo("401");
        assertThat(get("", basic("me", "secret"))).isEqualTo("plain proven");
        assertThat(get("", basic("me", "wrong"))).isEqualTo("401");
        assertThat(get("", basic("me", "worse"))).isEqualTo("503");
        assertThat(get("", basic("me", "secret"))).as("it is known").isEqualTo("plain proven");
        nanos.addAndGet(600_000_000L);
        assertThat(get("", basic("me", "worse"))).isEqualTo("401");
    }

    @Test
    void guardedHandlerChecksOtherCredentials() throws Exception {
        start("basic_auth_users:\n  me: " + BCrypt.withDefaults().hashToString(4, "secret".toCharArray()) + "\n", true);
        assertThat(get("", "Bearer token")).isEqualTo("plain");
        assertThat(get("", basic("anyone", "token"))).isEqualTo("plain");
        assertThat(get("", basic("me", "wrong"))).isEqualTo("401");
    }

    @Test
    void filesThatCannotBeUsedAreNamedAtTheStart() throws Exception {
        Path key = Files.writeString(
                folder.resolve("k"),
                "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n");
        assertRefused(
                tls("").replace(keys.resolve("localhost.key").toString(), key.toString()),
                "k: expected a private key in PEM, without a password");
        assertRefused("tls_server_config: {cert_file: none.crt, key_file: none.key}", "none.crt: no such file");
        assertRefused(
                tls("  client_auth_type: RequireAndVerifyClientCert\n  client_ca_file: " + key + "\n"),
                "expected certificates in PEM");
    }

    private void assertRefused(String yaml, String problem) throws IOException {
        Path file = config(yaml);
        assertThatThrownBy(() -> new WebAccess(Optional.of(file), nanos::get))
                .isInstanceOf(UserError.class)
                .hasMessageContaining("--web.config.file")
                .hasMessageContaining(problem);
    }

    /** A client that speaks HTTP to a port of TLS. */
    @Test
    void plainHttpOnATlsPortIsClosed() throws Exception {
        start(tls(""), false);
        URI plain = URI.create(server.url().replace("https", "http"));
        assertThatThrownBy(() -> HttpClient.newHttpClient()
                        .send(HttpRequest.newBuilder(plain).build(), HttpResponse.BodyHandlers.discarding()))
                .isInstanceOf(IOException.class)
                .isNotInstanceOf(SSLException.class);
    }
}
