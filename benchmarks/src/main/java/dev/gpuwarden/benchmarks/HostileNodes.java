package dev.gpuwarden.benchmarks;

import dev.gpuwarden.api.UplinkCodec;
import dev.gpuwarden.api.v1.Acknowledgement;
import dev.gpuwarden.api.v1.NodeReport;
import dev.gpuwarden.api.v1.UplinkGrpc;
import dev.gpuwarden.benchmarks.Attackers.AttackTally;
import dev.gpuwarden.benchmarks.Attackers.AttackTargets;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.StoredEvent;
import dev.gpuwarden.testkit.cluster.ClientTls;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.ssl.SslContext;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;

/**
 * Attacks on the aggregator's ingest port: false tokens from three addresses, some on a connection each; a real node that
 * reads no answer and sends events that must be refused; connections that end after the TLS handshake.
 */
final class HostileNodes {

    private static final int TOKENS_PER_SECOND = 20;
    private static final int HANDSHAKES_PER_SECOND = 5;
    private static final int IDLE_TLS = 50;
    private static final int STUBBORN_SECONDS = 30;
    /** The smallest window that a client can set: the answers of a stream then stay in the server's memory. */
    private static final int WINDOW_BYTES = 1;

    private final AttackTargets targets;
    private final AttackTally tally;
    private final SslContext tls;
    private final SSLContext plainTls;
    private final NioEventLoopGroup loops = new NioEventLoopGroup(2);
    private final List<ManagedChannel> strangers;
    private final Deque<Socket> idle = new ArrayDeque<>();
    private int turn;

    HostileNodes(AttackTargets targets, AttackTally tally) throws Exception {
        this.targets = targets;
        this.tally = tally;
        this.tls =
                GrpcSslContexts.forClient().trustManager(targets.ca().toFile()).build();
        this.plainTls = ClientTls.context(targets.ca());
        this.strangers = List.of(channel("127.0.0.11", 1 << 16), channel("127.0.0.12", 1 << 16));
    }

    void begin(ScheduledExecutorService timer) {
        tally.repeat(timer, 1000 / TOKENS_PER_SECOND, () -> stranger(strangers.get(turn++ % strangers.size()), false));
        tally.repeat(timer, 1000 / HANDSHAKES_PER_SECOND, () -> stranger(channel("127.0.0.13", 1 << 16), true));
        tally.repeat(timer, STUBBORN_SECONDS * 1000, this::stubborn);
        tally.repeat(timer, 500, this::silent);
    }

    private ManagedChannel channel(String from, int windowBytes) {
        return NettyChannelBuilder.forAddress("localhost", targets.ingest())
                .sslContext(tls)
                .eventLoopGroup(loops)
                .channelType(NioSocketChannel.class)
                .directExecutor()
                .flowControlWindow(windowBytes)
                .localSocketPicker(new NettyChannelBuilder.LocalSocketPicker() {
                    @Override
                    public InetSocketAddress createSocketAddress(
                            java.net.SocketAddress remote, io.grpc.Attributes attributes) {
                        return new InetSocketAddress(from, 0);
                    }
                })
                .build();
    }

    private static NodeReport hello(String node) {
        return UplinkCodec.report(UplinkCodec.hello(Instant.now())
                .setNodeName(node)
                .setBootId("boot")
                .setVersion("hostile")
                .build());
    }

    private void stranger(ManagedChannel channel, boolean once) {
        UplinkGrpc.newStub(channel)
                .withDeadlineAfter(20, TimeUnit.SECONDS)
                .withInterceptors(LoadDaemon.bearer(UUID.randomUUID() + "." + UUID.randomUUID()))
                .report(new Ended(status -> {
                    tally.count("strangers' tokens: " + status.getCode());
                    if (once) {
                        channel.shutdownNow();
                    }
                }))
                .onNext(hello(targets.node()));
    }

    /** Connects, reports no fault, and sends events of another node until the aggregator ends the stream. */
    private void stubborn() {
        ManagedChannel channel = channel("127.0.0.14", WINDOW_BYTES);
        try {
            Stubborn node = new Stubborn();
            var unused = UplinkGrpc.newStub(channel)
                    .withInterceptors(LoadDaemon.bearer(targets.hostileToken()))
                    .report(node);
            TimeUnit.SECONDS.sleep(STUBBORN_SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            channel.shutdownNow();
        }
    }

    /** Completes a TLS handshake and sends nothing more. */
    private void silent() {
        try {
            SSLSocket socket = (SSLSocket) plainTls.getSocketFactory().createSocket();
            socket.setEnabledProtocols(new String[] {"TLSv1.3"});
            socket.bind(new InetSocketAddress("127.0.0.15", 0));
            socket.connect(new InetSocketAddress("127.0.0.1", targets.ingest()), 10_000);
            socket.setSoTimeout(10_000);
            socket.startHandshake();
            tally.count("silent TLS connections");
            idle.add(socket);
            if (idle.size() > IDLE_TLS) {
                idle.remove().close();
            }
        } catch (IOException e) {
            tally.count("silent TLS connections, refused: " + e.getMessage());
        }
    }

    private record Ended(java.util.function.Consumer<Status> status)
            implements io.grpc.stub.StreamObserver<Acknowledgement> {
        @Override
        public void onNext(Acknowledgement acknowledgement) {}

        @Override
        public void onError(Throwable cause) {
            status.accept(Status.fromThrowable(cause));
        }

        @Override
        public void onCompleted() {
            status.accept(Status.OK);
        }
    }

    private final class Stubborn implements ClientResponseObserver<NodeReport, Acknowledgement> {
        private ClientCallStreamObserver<NodeReport> stream;
        private long sequence;

        @Override
        public void beforeStart(ClientCallStreamObserver<NodeReport> call) {
            stream = call;
            call.disableAutoRequestWithInitial(0);
            call.setOnReadyHandler(this::send);
        }

        private void send() {
            while (stream.isReady()) {
                if (sequence == 0) {
                    stream.onNext(hello(targets.hostileNode()));
                    UplinkCodec.pages(System.nanoTime(), 0, List.of()).forEachRemaining(stream::onNext);
                }
                sequence++;
                Instant now = Instant.now();
                HealthEvent event = LoadDaemon.event(targets.node(), sequence, false);
                stream.onNext(UplinkCodec.report(new StoredEvent(sequence, event, now, now, 1)));
                tally.count("stubborn node, events sent");
            }
        }

        @Override
        public void onNext(Acknowledgement acknowledgement) {
            tally.count("stubborn node, acknowledgements taken");
        }

        @Override
        public void onError(Throwable cause) {
            tally.count("stubborn node, ended: " + Status.fromThrowable(cause).getCode());
        }

        @Override
        public void onCompleted() {}
    }
}
