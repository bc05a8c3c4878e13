package dev.gpuwarden.cli.web;

import dev.gpuwarden.cli.UserError;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * An address to listen on: `host:port`, `[IPv6]:port`, or `:port` for every address of the machine. Port 0 takes a free
 * port.
 */
public record ListenAddress(String host, int port) {

    private static final Pattern FORM = Pattern.compile("(?:\\[([0-9A-Fa-f:.%a-z]+)]|([^\\[\\]:]*)):([0-9]{1,5})");

    /** @throws UserError where the text is no such address */
    public static ListenAddress parse(String text) {
        Matcher m = FORM.matcher(text);
        if (!m.matches() || Integer.parseInt(m.group(3)) > 65535) {
            throw new UserError("listen address must be host:port, [IPv6]:port or :port, but was '" + text + "'");
        }
        return new ListenAddress(m.group(1) == null ? m.group(2) : m.group(1), Integer.parseInt(m.group(3)));
    }

    public InetSocketAddress resolve() {
        try {
            return host.isEmpty()
                    ? new InetSocketAddress(port)
                    : new InetSocketAddress(InetAddress.getByName(host), port);
        } catch (UnknownHostException e) {
            throw new UserError("cannot listen on " + this + ": no such host");
        }
    }

    @Override
    public String toString() {
        return (host.indexOf(':') >= 0 ? "[" + host + "]" : host) + ":" + port;
    }
}
