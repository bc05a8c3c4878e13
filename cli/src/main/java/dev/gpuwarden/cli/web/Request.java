package dev.gpuwarden.cli.web;

import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;

/**
 * A GET or HEAD.
 *
 * @param path decoded
 * @param parameters of the query, decoded; of one that is given twice the last
 * @param from who asks, or who asks for somebody
 * @param isSecure whether it came over TLS
 * @param isProven whether the client showed a certificate, or the password of a user, by which --web.config.file lets it in
 * @param header a header's values by its name, joined by commas; empty when it is not there
 */
public record Request(
        String path,
        Map<String, String> parameters,
        InetAddress from,
        boolean isSecure,
        boolean isProven,
        UnaryOperator<String> header) {

    /** A name and its password. */
    public record Login(String user, String password) {}

    private static final Pattern LOOPBACK =
            Pattern.compile("localhost|127(\\.[0-9]{1,3}){3}|\\[::1]", Pattern.CASE_INSENSITIVE);

    /**
     * Whether the request came over loopback and its Host names loopback. A web page from elsewhere can make a browser send requests
     * over loopback, but then Host has the name of that page.
     */
    public boolean isLocal() {
        String host = header.apply("Host").replaceFirst(":[0-9]{1,5}$", "");
        return from.isLoopbackAddress() && LOOPBACK.matcher(host).matches();
    }

    /** The same request of a client that has proven who it is. */
    Request proven() {
        return new Request(path, parameters, from, isSecure, true, header);
    }

    /** What the client shows who it is with: a bearer's token, or the password of any name, which browsers ask for; empty without. */
    public String token() {
        String authorization = header.apply("Authorization");
        return authorization.startsWith("Bearer ")
                ? authorization.substring(7).strip()
                : login().map(Login::password).orElse("");
    }

    /** What the client gives as Basic authentication (RFC 7617). */
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

    /** A parameter that counts, between bounds; empty where it is not given or no such number. */
    public Optional<Long> number(String name, long least, long most) {
        String text = parameters.getOrDefault(name, "");
        if (!text.matches("[0-9]{1,18}")) {
            return Optional.empty();
        }
        return Optional.of(Math.max(least, Math.min(most, Long.parseLong(text))));
    }
}
