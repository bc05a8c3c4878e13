package dev.gpuwarden.daemon.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.CodedOutputStream;
import dev.gpuwarden.api.datamodels.HealthEvents;
import dev.gpuwarden.api.datamodels.PlatformConnectorGrpc;
import dev.gpuwarden.api.v1.GetNodeRequest;
import dev.gpuwarden.api.v1.Node;
import dev.gpuwarden.api.v1.NodeServiceGrpc;
import dev.gpuwarden.api.v1.NodeServiceGrpc.NodeServiceBlockingStub;
import dev.gpuwarden.api.v1.WatchKind;
import dev.gpuwarden.api.v1.WatchRequest;
import dev.gpuwarden.api.v1.WatchResponse;
import dev.gpuwarden.core.event.EventFilter;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.MetadataUtils;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A hostile client gets a clear answer or loses its connection, and the others are not affected. */
@Timeout(60)
class HostileClientTest {

    @TempDir
    Path folder;

    private ServedNode node;
    private NodeServiceBlockingStub other;
    private Node before;
    private Iterator<WatchResponse> watch;

    @BeforeEach
    void start() {
        node = ServedNode.start(folder);
        other = NodeServiceGrpc.newBlockingStub(node.client.channel());
        before = ask();
        watch = other.watch(
                WatchRequest.newBuilder().addKinds(WatchKind.WATCH_KIND_EVENTS).build());
        assertThat(watch.next().hasState()).isTrue();
    }

    /** Their calls go on, on the connections that they had before. */
    @AfterEach
    void othersAreUnharmed() {
        assertThat(ask()).isEqualTo(before);
        assertThat(node.store.events(EventFilter.all())).isEmpty();
        node.store.accept(ServedNode.xid("79").build());
        assertThat(watch.next().getEvent().getEvent().getErrorCode(0)).isEqualTo("79");
        node.close();
    }

    private Node ask() {
        return other.withDeadlineAfter(10, TimeUnit.SECONDS).getNode(GetNodeRequest.getDefaultInstance());
    }

    private SocketChannel connect() throws IOException {
        SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
        channel.connect(UnixDomainSocketAddress.of(node.socket));
        return channel;
    }

    /** Returns the server's bytes until it closes the connection. */
    private static int readToEnd(SocketChannel channel) {
        ByteBuffer buffer = ByteBuffer.allocate(1 << 16);
        int sum = 0;
        try {
            for (int n = channel.read(buffer); n >= 0; n = channel.read(buffer.clear())) {
                sum += n;
            }
        } catch (IOException reset) {
            // Closed as well.
        }
        return sum;
    }

    private static void write(SocketChannel channel, byte[] bytes) {
        try {
            ByteBuffer buffer = ByteBuffer.wrap(bytes);
            while (buffer.hasRemaining()) {
                channel.write(buffer);
            }
        } catch (IOException closedByServer) {
            // It need not take all of it.
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void randomBytesEndTheirConnection(long seed) throws IOException {
        byte[] bytes = new byte[100_000];
        new Random(seed).nextBytes(bytes);
        try (SocketChannel channel = connect()) {
            write(channel, bytes);
            readToEnd(channel);
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {11, 12, 13, 14, 15, 16, 17, 18})
    void randomFramesEndTheirConnection(long seed) throws IOException {
        Random random = new Random(seed);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        bytes.writeBytes("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
        bytes.writeBytes(new byte[] {0, 0, 0, 4, 0, 0, 0, 0, 0});
        for (int i = 0; i < 200; i++) {
            byte[] payload = new byte[random.nextInt(300)];
            random.nextBytes(payload);
            bytes.writeBytes(new byte[] {
                0,
                (byte) (payload.length >> 8),
                (byte) payload.length,
                (byte) random.nextInt(12),
                (byte) random.nextInt()
            });
            bytes.writeBytes(new byte[] {0, 0, 0, (byte) random.nextInt(8)});
            bytes.writeBytes(payload);
        }
        try (SocketChannel channel = connect()) {
            write(channel, bytes.toByteArray());
            readToEnd(channel);
        }
    }

    @Test
    void aRequestOfTheWebEndsItsConnection() throws IOException {
        try (SocketChannel channel = connect()) {
            write(channel, "GET / HTTP/1.1\r\nHost: x\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            readToEnd(channel);
        }
    }

    private StatusRuntimeException send(byte[] request) {
        return send(request, new Metadata());
    }

    /** Sends bytes that no generated code would make, as a request to store events. */
    private StatusRuntimeException send(byte[] request, Metadata headers) {
        MethodDescriptor<HealthEvents, com.google.protobuf.Empty> method =
                PlatformConnectorGrpc.getHealthEventOccurredV1Method();
        MethodDescriptor<byte[], com.google.protobuf.Empty> raw =
                method.toBuilder(new Raw(), method.getResponseMarshaller()).build();
        try (NodeClient client = NodeClient.of(node.socket)) {
            var channel = io.grpc.ClientInterceptors.intercept(
                    client.channel(), MetadataUtils.newAttachHeadersInterceptor(headers));
            ClientCalls.blockingUnaryCall(
                    channel, raw, CallOptions.DEFAULT.withDeadlineAfter(20, TimeUnit.SECONDS), request);
            throw new AssertionError("expected a refusal");
        } catch (StatusRuntimeException e) {
            return e;
        }
    }

    private static final class Raw implements MethodDescriptor.Marshaller<byte[]> {
        @Override
        public InputStream stream(byte[] value) {
            return new ByteArrayInputStream(value);
        }

        @Override
        public byte[] parse(InputStream stream) {
            try {
                return stream.readAllBytes();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    private static void is(StatusRuntimeException e, Status.Code code, String description) {
        assertThat(e.getStatus().getCode()).as(String.valueOf(e.getStatus())).isEqualTo(code);
        assertThat(e.getStatus().getDescription()).contains(description);
    }

    @Test
    void aRequestThatIsTooBigIsRefusedBeforeItIsRead() {
        is(send(new byte[(4 << 20) + 1]), Status.Code.RESOURCE_EXHAUSTED, "exceeds maximum size 4194304");
    }

    @ParameterizedTest
    @ValueSource(longs = {21, 22, 23, 24})
    void aRequestThatIsNoMessageIsRefused(long seed) {
        byte[] bytes = new byte[1000];
        new Random(seed).nextBytes(bytes);
        // Field number 0, which no message has: whatever follows is malformed.
        bytes[0] = 0x02;
        is(send(bytes), Status.Code.INVALID_ARGUMENT, "malformed request");
    }

    @Test
    void textThatIsNotUtf8IsRefused() {
        // events { agent: "\xff" }
        is(send(new byte[] {0x12, 3, 0x12, 1, (byte) 0xff}), Status.Code.INVALID_ARGUMENT, "malformed request");
    }

    @Test
    void manyObjectsInFewBytesAreCountedBeforeTheyAreMade() throws IOException {
        byte[] emptyEvents = new byte[4_000_000];
        for (int i = 0; i < emptyEvents.length; i += 2) {
            emptyEvents[i] = 0x12;
        }
        is(send(emptyEvents), Status.Code.INVALID_ARGUMENT, "more than 100000 fields");

        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        CodedOutputStream out = CodedOutputStream.newInstance(bytes);
        byte[] emptyCodes = new byte[300_000];
        for (int i = 0; i < emptyCodes.length; i += 2) {
            emptyCodes[i] = 0x4a;
        }
        out.writeByteArray(2, emptyCodes);
        out.flush();
        is(send(bytes.toByteArray()), Status.Code.INVALID_ARGUMENT, "more than 100000 fields");

        byte[] groups = new byte[100_000];
        java.util.Arrays.fill(groups, (byte) 0x23);
        is(send(groups), Status.Code.INVALID_ARGUMENT, "a group");
    }

    @Test
    void tooManyEventsAreRefused() {
        HealthEvents.Builder events = HealthEvents.newBuilder();
        for (int i = 0; i < 1001; i++) {
            events.addEventsBuilder().setAgent("a").setComponentClass("b").setCheckName("c");
        }
        is(send(events.build().toByteArray()), Status.Code.INVALID_ARGUMENT, "events: 1001, at most 1000");
    }

    @Test
    void headersThatAreTooBigAreRefused() {
        Metadata headers = new Metadata();
        headers.put(Metadata.Key.of("x", Metadata.ASCII_STRING_MARSHALLER), "x".repeat(20_000));
        assertThat(send(new byte[0], headers).getStatus().getCode())
                .isIn(Status.Code.INTERNAL, Status.Code.RESOURCE_EXHAUSTED);
    }

    /** Requests without an end, on many streams: together far more than the daemon's heap. */
    @Test
    void unfinishedRequestsTakeNoMoreThanTheirShare() throws Exception {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        CodedOutputStream out = CodedOutputStream.newInstance(bytes);
        out.writeByteArray(1000, new byte[3 << 20]);
        out.flush();
        var method = PlatformConnectorGrpc.getHealthEventOccurredV1Method();
        var raw = method.toBuilder(new Raw(), method.getResponseMarshaller()).build();
        List<NodeClient> clients = new ArrayList<>();
        long heldByTheOthers = node.server.stats().heldBytes();
        Queue<Status> ended = new ConcurrentLinkedQueue<>();
        for (int i = 0; i < 4; i++) {
            NodeClient client = NodeClient.of(node.socket);
            clients.add(client);
            for (int j = 0; j < 8; j++) {
                ClientCall<byte[], com.google.protobuf.Empty> call =
                        client.channel().newCall(raw, CallOptions.DEFAULT);
                call.start(
                        new ClientCall.Listener<>() {
                            @Override
                            public void onClose(Status status, Metadata trailers) {
                                ended.add(status);
                            }
                        },
                        new Metadata());
                call.request(1);
                call.sendMessage(bytes.toByteArray());
            }
        }
        // At most three of 32 find room; none if all arrived in small parts.
        while (ended.size() < 29) {
            assertThat(node.server.stats().heldBytes()).isLessThanOrEqualTo(MemoryQuota.ROOM);
            TimeUnit.MILLISECONDS.sleep(5);
        }
        assertThat(ended).allMatch(status -> status.getCode() == Status.Code.RESOURCE_EXHAUSTED);
        assertThat(node.server.stats().refusals(CallStats.Refusal.MEMORY)).isGreaterThanOrEqualTo(29);
        clients.forEach(NodeClient::close);
        while (node.server.stats().heldBytes() > heldByTheOthers) {
            TimeUnit.MILLISECONDS.sleep(5);
        }
    }

    @Test
    void connectionsAreLimitedInNumberAndEndWhenTheyAreNotUsed() throws Exception {
        List<SocketChannel> idle = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            idle.add(connect());
        }
        while (node.server.stats().refusals(CallStats.Refusal.CONNECTIONS) < 73) {
            TimeUnit.MILLISECONDS.sleep(5);
        }
        assertThat(node.server.stats().connections()).isEqualTo(128);
        ask();
        for (SocketChannel channel : idle) {
            channel.close();
        }
        while (node.server.stats().connections() > 1) {
            TimeUnit.MILLISECONDS.sleep(5);
        }
        try (NodeClient late = NodeClient.of(node.socket)) {
            assertThat(NodeServiceGrpc.newBlockingStub(late.channel())
                            .getNode(GetNodeRequest.getDefaultInstance())
                            .getName())
                    .isEqualTo(ServedNode.NAME);
        }
    }

    @Test
    void anUnknownMethodIsUnimplementedAndCountedUnderOneName() throws InterruptedException {
        var method = PlatformConnectorGrpc.getHealthEventOccurredV1Method();
        for (int i = 0; i < 20; i++) {
            var none =
                    method.toBuilder().setFullMethodName("no.Such/Method" + i).build();
            assertThatThrownBy(() -> ClientCalls.blockingUnaryCall(
                            node.client.channel(), none, CallOptions.DEFAULT, HealthEvents.getDefaultInstance()))
                    .hasMessageContaining("UNIMPLEMENTED");
        }
        // A call is counted when the server has let go of it, which its client does not wait for.
        while (!counted().contains("unknown/unknown 20")) {
            TimeUnit.MILLISECONDS.sleep(5);
        }
        assertThat(counted()).hasSize(2);
    }

    private List<String> counted() {
        List<String> counted = new ArrayList<>();
        node.server
                .stats()
                .eachEnded((ended, count) -> counted.add(ended.service() + "/" + ended.method() + " " + count));
        return counted;
    }
}
