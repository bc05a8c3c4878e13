package dev.gpuwarden.cli.web;

import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.QueryStringDecoder;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A converter from Netty's requests. Pure. */
final class Requests {

    private static final int MOST_PARAMETERS = 64;

    private Requests() {}

    /** Returns the request; empty where the path or a parameter cannot be decoded. */
    static Optional<Request> of(HttpRequest message, InetAddress peer, boolean isSecure, boolean isProven) {
        try {
            QueryStringDecoder uri =
                    new QueryStringDecoder(origin(message.uri()), StandardCharsets.UTF_8, true, MOST_PARAMETERS);
            return Optional.of(new Request(
                    uri.path(),
                    last(uri.parameters()),
                    peer,
                    isSecure,
                    isProven,
                    name -> String.join(",", message.headers().getAll(name))));
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    /** Returns the path without scheme and host, which clients of proxies send (RFC 9112, section 3.2.2). */
    private static String origin(String uri) {
        if (uri.startsWith("/")) {
            return uri;
        }
        int host = uri.indexOf("://");
        int path = host < 0 ? -1 : uri.indexOf('/', host + 3);
        return path < 0 ? "/" : uri.substring(path);
    }

    private static Map<String, String> last(Map<String, List<String>> parameters) {
        Map<String, String> last = new LinkedHashMap<>();
        parameters.forEach((name, values) -> last.put(name, values.get(values.size() - 1)));
        return last;
    }
}
