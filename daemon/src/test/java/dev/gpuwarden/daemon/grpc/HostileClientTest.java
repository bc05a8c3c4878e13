package dev.gpuwarden.daemon.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.CodedOutputStream;
import dev.gpuwarden.api.datamodels.HealthEvents;
import dev.gpuwarden.api.datamodels.PlatformConnectorGrpc;
import io.grpc.CallOptions;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.MetadataUtils;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A hostile client gets a clear answer or loses its connection, and the others are not affected. */
class HostileClientTest extends HostileFixture {

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
}
