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
 * @param header a header's values by its name, joined by commas; empty when it is not there
 */
public record Request(String path, Map<String, String> parameters, InetAddress from, UnaryOperator<String> header) {

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

    /** What the client shows who it is with: a bearer's token, or the password of any name, which browsers ask for; empty without. */
    public String token() {
        String authorization = header.apply("Authorization");
        if (authorization.startsWith("Bearer ")) {
            return authorization.substring(7).strip();
        }
        return authorization.startsWith("Basic ")
                ? password(authorization.substring(6).strip())
                : "";
    }

    private static String password(String encoded) {
        try {
            String both = new String(Base64.getDecoder().decode(encoded), StandardCharsets.UTF_8);
            return both.substring(both.indexOf(':') + 1);
        } catch (IllegalArgumentException e) {
            return "";
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
