package dev.gpuwarden.aggregator.web;

import dev.gpuwarden.cli.UserError;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import picocli.CommandLine.Option;

/** Who is believed when he says who looks at the page. */
public final class PageOptions {

    @Option(
            names = "--page.user-header",
            paramLabel = "NAME",
            description = "Header in which a proxy that asks people who they are names them, as X-Forwarded-User"
                    + " (default: none, everybody brings a Kubernetes token).")
    String userHeader = "";

    @Option(
            names = "--page.groups-header",
            paramLabel = "NAME",
            description = "Header in which that proxy names their groups, joined by commas (default: none).")
    String groupsHeader = "";

    @Option(
            names = "--page.proxy",
            split = ",",
            paramLabel = "ADDRESS",
            description = "From where that proxy comes; from anywhere else its headers count for nothing (default: this"
                    + " machine or pod).")
    List<String> proxies = List.of();

    /** Throws {@link UserError} for what is no address. */
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
