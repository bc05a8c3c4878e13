package dev.gpuwarden.cli.web;

import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.QueryStringDecoder;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;

/**
 * A request.
 *
 * @param method in upper case, as GET
 * @param path decoded
 * @param parameters of the query, decoded; the last value of one that is given twice
 * @param from address of the client or of its proxy
 * @param isSecure whether the request came over TLS
 * @param isProven whether the client proved its identity by a certificate or password that --web.config.file
 *     accepts
 * @param header returns a header's values by its name, joined by commas; empty where the header is missing
 * @param body empty where there is none
 */
public record Request(
        String method,
        String path,
        Map<String, String> parameters,
        InetAddress from,
        boolean isSecure,
        boolean isProven,
        UnaryOperator<String> header,
        byte[] body) {

    private static final int MOST_PARAMETERS = 64;

    /** A name and its password. */
    public record Login(String user, String password) {}

    private static final Pattern LOOPBACK =
            Pattern.compile("localhost|127(\\.[0-9]{1,3}){3}|\\[::1]", Pattern.CASE_INSENSITIVE);

    /**
     * Returns whether the request came over loopback and its Host names loopback. A web page from elsewhere can make a
     * browser send requests over loopback, but then Host has the name of that page.
     */
    public boolean isLocal() {
        String host = header.apply("Host").replaceFirst(":[0-9]{1,5}$", "");
        return from.isLoopbackAddress() && LOOPBACK.matcher(host).matches();
    }

    /** Returns the same request as of a client with a proven identity. */
    Request proven() {
        return new Request(method, path, parameters, from, isSecure, true, header, body);
    }

    /** Returns the same request with its body. */
    Request with(byte[] received) {
        return new Request(method, path, parameters, from, isSecure, isProven, header, received);
    }

    /**
     * Returns the client's credential: a bearer token, or the password of any user name, since browsers prompt for one;
     * empty where there is none.
     */
    public String token() {
        String authorization = header.apply("Authorization");
        return authorization.startsWith("Bearer ")
                ? authorization.substring(7).strip()
                : login().map(Login::password).orElse("");
    }

    /** Returns the Basic credentials (RFC 7617); empty where there are none. */
    public Optional<Login> login() {
        String authorization = header.apply("Authorization");
        if (!authorization.startsWith("Basic ")) {
            return Optional.empty();
        }
        try {
            String both = new String(
                    Base64.getDecoder().decode(authorization.substring(6).strip()), StandardCharsets.UTF_8);
            int colon = both.indexOf(':');
            return Optional.of(new Login(both.substring(0, Math.max(colon, 0)), both.substring(colon + 1)));
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    /** Returns a numeric parameter, limited to the bounds; empty where it is missing or no number. */
    public Optional<Long> number(String name, long least, long most) {
        String text = parameters.getOrDefault(name, "");
        if (!text.matches("[0-9]{1,18}")) {
            return Optional.empty();
        }
        return Optional.of(Math.max(least, Math.min(most, Long.parseLong(text))));
    }

    /** Returns the request without its body; empty where the path or a parameter cannot be decoded. */
    static Optional<Request> of(HttpRequest message, InetAddress peer, boolean isSecure, boolean isProven) {
        try {
            QueryStringDecoder uri =
                    new QueryStringDecoder(origin(message.uri()), StandardCharsets.UTF_8, true, MOST_PARAMETERS);
            return Optional.of(new Request(
                    message.method().name(),
                    uri.path(),
                    last(uri.parameters()),
                    peer,
                    isSecure,
                    isProven,
                    name -> String.join(",", message.headers().getAll(name)),
                    new byte[0]));
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
