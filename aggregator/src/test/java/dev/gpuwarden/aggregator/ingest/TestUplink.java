package dev.gpuwarden.aggregator.ingest;

import dev.gpuwarden.api.UplinkCodec;
import dev.gpuwarden.api.v1.Acknowledgement;
import dev.gpuwarden.api.v1.NodeReport;
import dev.gpuwarden.api.v1.UplinkGrpc;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.testkit.tls.TestKeys;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.MetadataUtils;
import io.grpc.stub.StreamObserver;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import java.io.IOException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** A node's side of uplink.proto, which sends single messages. */
final class TestUplink implements AutoCloseable {

    private final BlockingQueue<Acknowledgement> received = new LinkedBlockingQueue<>();
    private final CompletableFuture<Status> end = new CompletableFuture<>();
    private final ManagedChannel channel;
    private final StreamObserver<NodeReport> stream;

    /**
     * @param identity name of a client certificate; empty for none
     * @param token token of the caller; empty for none
     */
    TestUplink(int port, TestKeys keys, String identity, String token) throws IOException {
        SslContextBuilder tls = GrpcSslContexts.configure(SslContextBuilder.forClient(), SslProvider.JDK)
                .trustManager(keys.ca.toFile());
        if (!identity.isEmpty()) {
            tls.keyManager(keys.pem(identity).toFile(), keys.key(identity).toFile());
        }
        channel = NettyChannelBuilder.forAddress("127.0.0.1", port)
                .overrideAuthority("aggregator")
                .sslContext(tls.build())
                .build();
        Metadata headers = new Metadata();
        if (!token.isEmpty()) {
            headers.put(Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER), "Bearer " + token);
        }
        stream = UplinkGrpc.newStub(channel)
                .withInterceptors(MetadataUtils.newAttachHeadersInterceptor(headers))
                .report(new StreamObserver<>() {
                    @Override
                    public void onNext(Acknowledgement acknowledgement) {
                        received.add(acknowledgement);
                    }

                    @Override
                    public void onError(Throwable cause) {
                        end.complete(Status.fromThrowable(cause));
                    }

                    @Override
                    public void onCompleted() {
                        end.complete(Status.OK);
                    }
                });
    }

    TestUplink hello(String node) {
        return hello(node, false);
    }

    /**
     * @param answersLookups true for a daemon that answers requests for holders and signals; false for one of the first version
     */
    TestUplink hello(String node, boolean answersLookups) {
        return hello(node, answersLookups, "");
    }

    /** @param vram the extended resource for VRAM; empty for a node that requests no budgets */
    TestUplink hello(String node, boolean answersLookups, String vram) {
        send(UplinkCodec.report(UplinkCodec.hello(Instant.now())
                .setNodeName(node)
                .setBootId("boot-1")
                .setVersion("1.0")
                .setAnswersLookups(answersLookups)
                .setAnswersSignals(answersLookups)
                .setVramResource(vram)
                .build()));
        return this;
    }

    void faults(long generation, long asOf, Fault... faults) {
        UplinkCodec.pages(generation, asOf, List.of(faults)).forEachRemaining(this::send);
    }

    void event(long sequence, HealthEvent event) {
        send(UplinkCodec.report(TestFaults.stored(sequence, event)));
    }

    void send(NodeReport report) {
        stream.onNext(report);
    }

    /** Returns the next message of the aggregator. */
    Acknowledgement receive() throws InterruptedException {
        return receiveOrEnd().orElseThrow(() -> new AssertionError("the stream has ended: " + end.getNow(null)));
    }

    /** Returns the next message of the aggregator; empty if the stream ends instead. */
    Optional<Acknowledgement> receiveOrEnd() throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(2);
        while (System.nanoTime() - deadline < 0) {
            boolean over = end.isDone();
            Acknowledgement next = received.poll(20, TimeUnit.MILLISECONDS);
            if (next != null || over) {
                return Optional.ofNullable(next);
            }
        }
        throw new AssertionError("no message arrived within two minutes");
    }

    /** Returns the number of received messages that no test has read. */
    int pending() {
        return received.size();
    }

    /** Waits until this sequence is acknowledged. */
    void awaitSequence(long sequence) throws InterruptedException {
        while (receive().getSequence() != sequence) {
            // Acknowledgements before it.
        }
    }

    Status end() throws Exception {
        return end.get(2, TimeUnit.MINUTES);
    }

    @Override
    public void close() {
        channel.shutdownNow();
    }
}
