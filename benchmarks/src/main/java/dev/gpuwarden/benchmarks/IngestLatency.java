package dev.gpuwarden.benchmarks;

import static dev.gpuwarden.benchmarks.Figures.millis;
import static dev.gpuwarden.benchmarks.Figures.printLine;

import dev.gpuwarden.api.UplinkCodec;
import dev.gpuwarden.api.v1.Acknowledgement;
import dev.gpuwarden.api.v1.NodeReport;
import dev.gpuwarden.api.v1.UplinkGrpc;
import dev.gpuwarden.core.SuppressForbidden;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.StoredEvent;
import dev.gpuwarden.testkit.cluster.ControlPlane;
import io.grpc.ManagedChannel;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/**
 * Measures the time from an event of one node until the node has the acknowledgement that its NodeHealth is written. The
 * shipped aggregator, a real API server with etcd, TLS and a token are between them, all otherwise idle. etcd does not sync
 * to disk.
 */
final class IngestLatency {

    /** Pause between two events in milliseconds, more than the aggregator's pause between two writes of a node. */
    private static final long APART_MILLIS = 300;

    private static final String NODE = "measured";

    private IngestLatency() {}

    @SuppressForbidden("a program of its own: prints its result")
    public static void main(String[] args) throws Exception {
        PrintStream out = System.out;
        Path work = Path.of(args[1]);
        int events = Integer.parseInt(args[3]);
        try (ControlPlane plane = ControlPlane.start(work.resolve("plane"))) {
            String token = prepare(plane, Path.of(args[2]));
            int port = LoadCluster.freePort();
            try (ShippedAggregator aggregator = new ShippedAggregator(
                    args[0],
                    plane.kubeconfig(plane.token("gpuwarden", "gpuwarden-aggregator")),
                    work,
                    port,
                    LoadCluster.freePort(),
                    List.of())) {
                // Before it leads, it may refuse streams.
                aggregator.await("gpuwarden_aggregator_leads", 1, 120);
                measure(port, work.resolve("cert.pem"), token, Math.max(20, events / 5));
                Histogram micros = measure(port, work.resolve("cert.pem"), token, events);
                printLine(
                        out,
                        "%d events, one each %d ms: %s",
                        events,
                        APART_MILLIS,
                        millis("p50 %.1f ms, p90 %.1f ms, p99 %.1f ms, longest %.1f ms", micros, 50, 90, 99, 100));
                out.print(plane.kubectl("get", "nodehealth"));
                printLine(out, "aggregator: %d MiB resident", aggregator.residentMib());
            }
        }
    }

    private static String prepare(ControlPlane plane, Path manifests) throws IOException {
        for (String manifest : List.of(
                "crds/nodehealths.gpuwarden.dev.yaml",
                "crds/quarantinerulesets.gpuwarden.dev.yaml",
                "crds/monitorpolicies.gpuwarden.dev.yaml",
                "node/gpuwarden-node.yaml",
                "gpuwarden-aggregator.yaml")) {
            plane.apply(Files.readString(manifests.resolve(manifest)));
        }
        plane.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=120s");
        plane.apply("""
                apiVersion: v1
                kind: Node
                metadata: {name: NODE}
                ---
                apiVersion: v1
                kind: Pod
                metadata: {name: daemon, namespace: gpuwarden}
                spec:
                  nodeName: NODE
                  serviceAccountName: gpuwarden
                  automountServiceAccountToken: false
                  containers: [{name: daemon, image: none}]
                """.replace("NODE", NODE));
        return plane.kubectl(
                        "create",
                        "token",
                        "gpuwarden",
                        "--namespace=gpuwarden",
                        "--audience=gpuwarden-aggregator",
                        "--bound-object-kind=Pod",
                        "--bound-object-name=daemon")
                .strip();
    }

    private static Histogram measure(int port, Path ca, String token, int events) throws Exception {
        ManagedChannel channel = StolenTokens.channel(port, ca);
        BlockingQueue<Acknowledgement> acknowledged = new LinkedBlockingQueue<>();
        try {
            StreamObserver<NodeReport> stream = UplinkGrpc.newStub(channel)
                    .withWaitForReady()
                    .withInterceptors(LoadDaemon.bearer(token))
                    .report(new Acknowledged(acknowledged));
            stream.onNext(UplinkCodec.report(
                    UplinkCodec.hello(Instant.now()).setNodeName(NODE).build()));
            long before = next(acknowledged).getWelcome().getAcknowledgedSequence();
            stream.onNext(
                    UplinkCodec.pages(System.nanoTime(), before, List.of()).next());
            next(acknowledged);
            Histogram micros = new Histogram(60_000_000, 3);
            for (int i = 1; i <= events; i++) {
                TimeUnit.MILLISECONDS.sleep(APART_MILLIS);
                long start = System.nanoTime();
                stream.onNext(UplinkCodec.report(event(before + i, i % 2 == 0)));
                while (next(acknowledged).getSequence() != before + i) {
                    // An acknowledgement of the event before.
                }
                micros.recordValue((System.nanoTime() - start) / 1000);
            }
            return micros;
        } finally {
            channel.shutdownNow();
        }
    }

    private static StoredEvent event(long sequence, boolean healthy) {
        Instant now = Instant.now();
        HealthEvent event = LoadDaemon.event(NODE, sequence, healthy);

        return new StoredEvent(sequence, event, now, now, 1);
    }

    private static Acknowledgement next(BlockingQueue<Acknowledgement> acknowledged) throws InterruptedException {
        Acknowledgement next = acknowledged.poll(60, TimeUnit.SECONDS);
        if (next == null) {
            throw new IllegalStateException("the aggregator sent no acknowledgement for a minute");
        }
        return next;
    }

    private record Acknowledged(BlockingQueue<Acknowledgement> acknowledged)
            implements StreamObserver<Acknowledgement> {
        @Override
        public void onNext(Acknowledgement acknowledgement) {
            acknowledged.add(acknowledgement);
        }

        @Override
        public void onError(Throwable cause) {
            // The waiting thread reports the missing acknowledgement.
        }

        @Override
        public void onCompleted() {}
    }
}
