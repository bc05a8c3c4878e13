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
            description =
                    "Header in which the proxy of --page.proxy names the user's groups, joined by commas (default: none).")
    String groupsHeader = "";

    @Option(
            names = "--page.proxy",
            split = ",",
            paramLabel = "ADDRESS",
            description =
                    "Address of the proxy that authenticates users. Its headers are ignored from any other address. A header of a user"
                            + " needs it (default: none). For a proxy in the same pod: 127.0.0.1, which trusts each user who may"
                            + " port-forward to the pod.")
    List<String> proxies = List.of();

    /**
     * Returns the addresses of the trusted proxies. No address is trusted by default, also not the own one: every port-forward comes
     * from there, so a user could give another name.
     *
     * @throws UserError for an option that is no IP address, and for a header without a proxy
     */
    Set<InetAddress> trusted() {
        if (proxies.isEmpty() && !(userHeader.isEmpty() && groupsHeader.isEmpty())) {
            String header = userHeader.isEmpty() ? "--page.groups-header" : "--page.user-header";
            throw new UserError(
                    header + ": expected --page.proxy with the address of the proxy that sets the header, found"
                            + " none. For a proxy in the same pod: --page.proxy=127.0.0.1, which trusts each user who may"
                            + " port-forward to the pod");
        }
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
