package dev.gpuwarden.daemon.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.CodedOutputStream;
import dev.gpuwarden.api.datamodels.HealthEvents;
import dev.gpuwarden.api.datamodels.PlatformConnectorGrpc;
import dev.gpuwarden.api.v1.GetNodeRequest;
import dev.gpuwarden.api.v1.NodeServiceGrpc;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.stub.ClientCalls;
import java.io.ByteArrayOutputStream;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A hostile client that opens or begins too much is refused. */
class HostileLoadTest extends HostileFixture {

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
