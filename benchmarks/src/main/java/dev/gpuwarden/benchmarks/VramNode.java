package dev.gpuwarden.benchmarks;

import dev.gpuwarden.api.UplinkCodec;
import dev.gpuwarden.api.VramCodec;
import dev.gpuwarden.api.v1.Acknowledgement;
import dev.gpuwarden.api.v1.NodeReport;
import dev.gpuwarden.api.v1.Removal;
import dev.gpuwarden.api.v1.UplinkGrpc;
import dev.gpuwarden.api.v1.VramAnswer;
import io.grpc.ClientInterceptor;
import io.grpc.ManagedChannel;
import io.grpc.stub.StreamObserver;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.Consumer;

/** The stream of one node without faults, which states its memory and asks for the end of pods. Thread-safe. */
final class VramNode implements StreamObserver<Acknowledgement> {

    private final ManagedChannel channel;
    private final String node;
    private final ClientInterceptor token;
    private final Consumer<VramAnswer> answers;
    private StreamObserver<NodeReport> stream;
    private boolean welcome;
    private long number;

    /** @param token of a daemon's pod on that node */
    VramNode(ManagedChannel channel, String node, String token, Consumer<VramAnswer> answers) {
        this.channel = channel;
        this.node = node;
        this.answers = answers;
        this.token = LoadDaemon.bearer(token);
    }

    /** Requests the end of a pod; connects first where no stream is open. Returns false where none is ready. */
    synchronized boolean evict(String id, String uid, String namespace, String pod) {
        return send(VramCodec.evict(
                id, uid, namespace, pod, "over its budget", Duration.ofSeconds(5), Removal.REMOVAL_EVICT));
    }

    /** States the memory of the node in MiB. Returns false where no stream is ready. */
    synchronized boolean advertise(long mib) {
        return send(VramCodec.advertise("a-" + ++number, OptionalLong.of(mib), OptionalLong.of(mib)));
    }

    private boolean send(NodeReport report) {
        if (stream == null) {
            connect();
        }
        if (welcome) {
            stream.onNext(report);
        }
        return welcome;
    }

    private void connect() {
        welcome = false;
        stream = UplinkGrpc.newStub(channel).withInterceptors(token).report(this);
        stream.onNext(UplinkCodec.report(UplinkCodec.hello(Instant.now())
                .setNodeName(node)
                .setBootId("boot")
                .setVersion("vram")
                .setVramResource(VramCodec.RESOURCE)
                .build()));
    }

    @Override
    public void onNext(Acknowledgement acknowledgement) {
        if (acknowledgement.hasWelcome()) {
            synchronized (this) {
                UplinkCodec.pages(1, acknowledgement.getWelcome().getAcknowledgedSequence(), List.of())
                        .forEachRemaining(stream::onNext);
                welcome = true;
            }
        } else if (acknowledgement.hasVramAnswer()) {
            answers.accept(acknowledgement.getVramAnswer());
        }
    }

    @Override
    public synchronized void onError(Throwable cause) {
        stream = null;
        welcome = false;
    }

    @Override
    public synchronized void onCompleted() {
        stream = null;
        welcome = false;
    }
}
