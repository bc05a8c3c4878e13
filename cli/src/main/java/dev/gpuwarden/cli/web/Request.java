package dev.gpuwarden.cli.web;

import java.net.InetAddress;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * A GET or HEAD.
 *
 * @param path decoded
 * @param parameters of the query, decoded; of one that is given twice the last
 * @param from who asks, or who asks for somebody
 * @param header a header's values by its name, joined by commas; empty when it is not there
 */
public record Request(String path, Map<String, String> parameters, InetAddress from, UnaryOperator<String> header) {

    /** A parameter that counts, between bounds; empty where it is not given or no such number. */
    public Optional<Long> number(String name, long least, long most) {
        String text = parameters.getOrDefault(name, "");
        if (!text.matches("[0-9]{1,18}")) {
            return Optional.empty();
        }
        return Optional.of(Math.max(least, Math.min(most, Long.parseLong(text))));
    }
}
