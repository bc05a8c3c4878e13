package dev.gpuwarden.benchmarks;

import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;

/**
 * The targets of the attackers, which are the arguments of their process.
 *
 * @param daemon address of the daemon's pages
 * @param events socket for checks of third parties
 * @param socket socket for queries
 * @param aggregator address of the aggregator's pages
 * @param ingest port of the aggregator for nodes
 * @param ca certificate authority of the aggregator
 * @param node node under attack
 * @param hostileNode node of the attackers
 * @param hostileToken token of a daemon's pod on that node
 * @param pageToken token with the right to read the fleet
 * @param kubeconfig kubeconfig with the right to write rule sets and policies
 */
record AttackTargets(
        InetSocketAddress daemon,
        Path events,
        Path socket,
        InetSocketAddress aggregator,
        int ingest,
        Path ca,
        String node,
        String hostileNode,
        String hostileToken,
        String pageToken,
        Path kubeconfig) {

    static InetSocketAddress address(String url) {
        URI uri = URI.create(url);
        return new InetSocketAddress(uri.getHost(), uri.getPort());
    }

    List<String> arguments() {
        return List.of(
                "http://127.0.0.1:" + daemon.getPort(),
                events.toString(),
                socket.toString(),
                "http://127.0.0.1:" + aggregator.getPort(),
                Integer.toString(ingest),
                ca.toString(),
                node,
                hostileNode,
                hostileToken,
                pageToken,
                kubeconfig.toString());
    }

    static AttackTargets of(List<String> arguments) {
        Iterator<String> next = arguments.iterator();
        return new AttackTargets(
                address(next.next()),
                Path.of(next.next()),
                Path.of(next.next()),
                address(next.next()),
                Integer.parseInt(next.next()),
                Path.of(next.next()),
                next.next(),
                next.next(),
                next.next(),
                next.next(),
                Path.of(next.next()));
    }
}
