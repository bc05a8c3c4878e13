package dev.gpuwarden.aggregator.web;

import dev.gpuwarden.cli.UserError;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import picocli.CommandLine.Option;

/** The options for the trusted proxy that authenticates the users of the page. */
public final class PageOptions {

    @Option(
            names = "--page.user-header",
            paramLabel = "NAME",
            description = "Header in which a proxy that authenticates users names the user, as X-Forwarded-User"
                    + " (default: none, each user presents a Kubernetes token).")
    String userHeader = "";

    @Option(
            names = "--page.groups-header",
            paramLabel = "NAME",
            description = "Header in which that proxy names the user's groups, joined by commas (default: none).")
    String groupsHeader = "";

    @Option(
            names = "--page.proxy",
            split = ",",
            paramLabel = "ADDRESS",
            description = "Address of that proxy. Its headers are ignored from any other address (default: this"
                    + " machine or pod).")
    List<String> proxies = List.of();

    /** Returns the addresses of the trusted proxies. Throws {@link UserError} for an option that is no IP address. */
    Set<InetAddress> trusted() {
        Set<InetAddress> trusted = new HashSet<>();
        for (String proxy : proxies) {
            if (!proxy.matches("[0-9.]+|[0-9a-fA-F:]+")) {
                throw new UserError("--page.proxy: expected an IP address, found \"" + proxy + "\"");
            }
            try {
                trusted.add(InetAddress.getByName(proxy));
            } catch (UnknownHostException e) {
                throw new UserError("--page.proxy: expected an IP address, found \"" + proxy + "\"");
            }
        }
        return trusted;
    }
}
