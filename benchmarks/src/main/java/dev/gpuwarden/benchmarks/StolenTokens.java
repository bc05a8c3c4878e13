package dev.gpuwarden.benchmarks;

import dev.gpuwarden.api.v1.VramAnswer;
import dev.gpuwarden.benchmarks.Attackers.AttackTally;
import dev.gpuwarden.benchmarks.Attackers.AttackTargets;
import io.grpc.ManagedChannel;
import io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.NettyChannelBuilder;
import io.netty.handler.ssl.SslContext;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ScheduledExecutorService;

/**
 * The holders of stolen tokens of nodes: each asks five times a second for the end of a pod of another node, and states each ten seconds
 * that its own node has 60 TiB of memory, so that all pods with a budget would go there.
 */
final class StolenTokens {

    /** In the stage's folder: a line for each token, node and token. */
    static final String FILE = "tokens";
    /** In the stage's folder: namespace, name and UID of the pod whose end they request. */
    static final String POD = "pod";

    static final long MAGNET_MIB = 60L << 20;

    private static final int ADVERTISE_EACH = 50;

    private final AttackTally tally;
    private final List<VramNode> nodes = new ArrayList<>();
    private final String[] pod;
    private long number;

    StolenTokens(Path stage, AttackTargets targets, AttackTally tally) throws IOException {
        this.tally = tally;
        this.pod = Files.readString(stage.resolve(POD)).strip().split(" ", -1);
        for (String line : Files.readAllLines(stage.resolve(FILE))) {
            String[] words = line.split(" ", 2);
            nodes.add(new VramNode(channel(targets.ingest(), targets.ca()), words[0], words[1], this::answer));
        }
    }

    static ManagedChannel channel(int port, Path ca) throws IOException {
        SslContext tls = GrpcSslContexts.forClient().trustManager(ca.toFile()).build();
        return NettyChannelBuilder.forAddress("localhost", port).sslContext(tls).build();
    }

    void begin(ScheduledExecutorService timer) {
        nodes.forEach(node -> tally.repeat(timer, 200, () -> ask(node)));
    }

    private void ask(VramNode node) {
        long id;
        synchronized (this) {
            id = ++number;
        }
        tally.count(
                "stolen tokens, removals " + (node.evict("e-" + id, pod[2], pod[0], pod[1]) ? "asked" : "not sent"));
        if (id % ADVERTISE_EACH < nodes.size()) {
            tally.count("stolen tokens, 60 TiB " + (node.advertise(MAGNET_MIB) ? "stated" : "not sent"));
        }
    }

    private void answer(VramAnswer answer) {
        tally.count("stolen tokens, " + (answer.getId().startsWith("a-") ? "60 TiB" : "removals")
                + (answer.getAccepted() ? " accepted: " : " refused: ")
                + answer.getText().replaceAll("\\d+", "N"));
    }
}
