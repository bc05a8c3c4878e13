package dev.gpuwarden.testkit.cluster;

import com.sun.net.httpserver.HttpExchange;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;
import javax.net.ssl.SSLContext;

/** Forwards requests of a proxy to the API server. Thread-safe. */
final class ApiForwarder {

    private static final List<String> PASSED = List.of("Accept", "Authorization", "Content-Type", "User-Agent");

    private final String target;
    /** Two clients, since the API server prefers a certificate to a token. */
    private final HttpClient admin;

    private final HttpClient others;

    ApiForwarder(ControlPlane plane) throws IOException {
        this.target = plane.url();
        this.admin = client(ClientTls.context(plane, true));
        this.others = client(ClientTls.context(plane, false));
    }

    private static HttpClient client(SSLContext context) {
        return HttpClient.newBuilder()
                .sslContext(context)
                .version(HttpClient.Version.HTTP_1_1)
                .build();
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
