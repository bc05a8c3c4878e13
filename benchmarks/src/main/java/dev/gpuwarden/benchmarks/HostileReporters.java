package dev.gpuwarden.benchmarks;

import dev.gpuwarden.api.datamodels.HealthEvent;
import dev.gpuwarden.api.datamodels.HealthEvents;
import dev.gpuwarden.api.datamodels.PlatformConnectorGrpc;
import dev.gpuwarden.api.datamodels.RecommendedAction;
import dev.gpuwarden.api.v1.NodeServiceGrpc;
import dev.gpuwarden.api.v1.WatchRequest;
import dev.gpuwarden.api.v1.WatchResponse;
import dev.gpuwarden.benchmarks.Attackers.AttackTally;
import dev.gpuwarden.benchmarks.Attackers.AttackTargets;
import dev.gpuwarden.daemon.grpc.NodeClient;
import io.grpc.CallOptions;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ClientResponseObserver;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * Attacks on the daemon's sockets: two calls a second with 250 events of 15 kB; four with 500 events and a new code each,
 * from eight agents; garbage; calls that are too large; a hundred watchers, half of which read nothing.
 */
final class HostileReporters {

    private static final int EVENTS = 250;
    private static final int MESSAGE_CHARACTERS = 15_000;
    private static final int CODES = 500;
    private static final int AGENTS = 8;
    private static final int WATCHERS = 100;
    private static final int WATCHERS_OF_ONE = 25;
    private static final int TOO_LARGE_BYTES = 5 << 20;
    private static final int PATIENCE_SECONDS = 10;

    private static final MethodDescriptor.Marshaller<byte[]> BYTES = new MethodDescriptor.Marshaller<>() {
        @Override
        public InputStream stream(byte[] value) {
            return new ByteArrayInputStream(value);
        }

        @Override
        public byte[] parse(InputStream stream) {
            return new byte[0];
        }
    };

    private static final MethodDescriptor<byte[], byte[]> REPORT =
            PlatformConnectorGrpc.getHealthEventOccurredV1Method().toBuilder(BYTES, BYTES)
                    .build();

    private final AttackTally tally;
    private final Path events;
    private final NodeClient reporter;
    private final List<NodeClient> watchers = new ArrayList<>();
    private final String message = "x".repeat(MESSAGE_CHARACTERS);
    private final Random random = new Random(1);
    private long number;

    HostileReporters(AttackTargets targets, AttackTally tally) {
        this.tally = tally;
        this.events = targets.events();
        this.reporter = NodeClient.of(events);
        for (int i = 0; i < WATCHERS / WATCHERS_OF_ONE; i++) {
            watchers.add(NodeClient.of(targets.socket()));
        }
    }

    void begin(ScheduledExecutorService timer) {
        tally.repeat(timer, 500, () -> report("large call", EVENTS, message));
        tally.repeat(timer, 250, () -> report("call of many codes", CODES, ""));
        tally.repeat(timer, 500, this::garbage);
        for (int i = 0; i < WATCHERS; i++) {
            watch(watchers.get(i % watchers.size()), i % 2 == 0, timer);
        }
    }

    private void report(String what, int count, String text) {
        HealthEvents.Builder call = HealthEvents.newBuilder();
        String agent;
        synchronized (this) {
            agent = "stranger-" + number++ % AGENTS;
            for (int i = 0; i < count; i++) {
                call.addEvents(HealthEvent.newBuilder()
                        .setAgent(agent)
                        .setComponentClass("GPU")
                        .setCheckName("Strange")
                        .setMessage(text)
                        .setRecommendedAction(RecommendedAction.NONE)
                        .addErrorCode("CODE-" + number + "-" + i));
            }
        }
        send(what, call.build().toByteArray());
    }

    /** Sends random bytes, as a request and as a connection. */
    private void garbage() {
        byte[] bytes = new byte[4096];
        random.nextBytes(bytes);
        send("garbage", bytes);
        send("call that is too large", new byte[TOO_LARGE_BYTES]);
        try (SocketChannel socket = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            socket.connect(UnixDomainSocketAddress.of(events));
            var unused = socket.write(ByteBuffer.wrap(bytes));
            tally.count("garbage connection");
        } catch (IOException e) {
            tally.count("garbage connection, refused");
        }
    }

    private void send(String what, byte[] request) {
        Status status = Status.OK;
        try {
            var unused = ClientCalls.blockingUnaryCall(
                    reporter.channel(),
                    REPORT,
                    CallOptions.DEFAULT.withDeadlineAfter(PATIENCE_SECONDS, TimeUnit.SECONDS),
                    request);
        } catch (RuntimeException e) {
            status = Status.fromThrowable(e);
        }
        tally.count("reporters, " + what + ": " + status.getCode());
    }

    private void watch(NodeClient client, boolean reads, ScheduledExecutorService timer) {
        NodeServiceGrpc.newStub(client.channel())
                .watch(WatchRequest.getDefaultInstance(), new ClientResponseObserver<WatchRequest, WatchResponse>() {
                    @Override
                    public void beforeStart(ClientCallStreamObserver<WatchRequest> call) {
                        if (!reads) {
                            call.disableAutoRequestWithInitial(0);
                        }
                    }

                    @Override
                    public void onNext(WatchResponse response) {
                        tally.count("watchers, messages");
                    }

                    @Override
                    public void onError(Throwable cause) {
                        tally.count("watchers, ended: "
                                + Status.fromThrowable(cause).getCode());
                        var unused = timer.schedule(() -> watch(client, reads, timer), 1, TimeUnit.SECONDS);
                    }

                    @Override
                    public void onCompleted() {}
                });
    }
}
