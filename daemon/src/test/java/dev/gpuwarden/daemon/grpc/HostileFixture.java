package dev.gpuwarden.daemon.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.api.v1.GetNodeRequest;
import dev.gpuwarden.api.v1.Node;
import dev.gpuwarden.api.v1.NodeServiceGrpc;
import dev.gpuwarden.api.v1.NodeServiceGrpc.NodeServiceBlockingStub;
import dev.gpuwarden.api.v1.WatchKind;
import dev.gpuwarden.api.v1.WatchRequest;
import dev.gpuwarden.api.v1.WatchResponse;
import dev.gpuwarden.core.event.EventFilter;
import io.grpc.MethodDescriptor;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** A node whose other clients must not be affected by a hostile one. */
abstract class HostileFixture {

    @TempDir
    Path folder;

    ServedNode node;
    NodeServiceBlockingStub other;
    Node before;
    Iterator<WatchResponse> watch;

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

    Node ask() {
        return other.withDeadlineAfter(10, TimeUnit.SECONDS).getNode(GetNodeRequest.getDefaultInstance());
    }

    SocketChannel connect() throws IOException {
        SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
        channel.connect(UnixDomainSocketAddress.of(node.socket));
        return channel;
    }

    /** Returns the server's bytes until it closes the connection. */
    static int readToEnd(SocketChannel channel) {
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

    static void write(SocketChannel channel, byte[] bytes) {
        try {
            ByteBuffer buffer = ByteBuffer.wrap(bytes);
            while (buffer.hasRemaining()) {
                channel.write(buffer);
            }
        } catch (IOException closedByServer) {
            // It need not take all of it.
        }
    }

    /** Bytes that no generated code would make. */
    static final class Raw implements MethodDescriptor.Marshaller<byte[]> {
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
}
