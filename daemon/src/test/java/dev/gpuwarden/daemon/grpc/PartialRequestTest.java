package dev.gpuwarden.daemon.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** The parts of a request that has not arrived as a whole wait on the heap, and take no more than their size. */
class PartialRequestTest extends HostileFixture {

    private static final int REQUEST_BYTES = 4_000_000;
    private static final int FRAME_BYTES = 8_200;

    @Test
    void partsOfRequestsTakeNoDirectMemory() throws Exception {
        long before = UnpooledByteBufAllocator.DEFAULT.metric().usedDirectMemory();
        long heapBefore = UnpooledByteBufAllocator.DEFAULT.metric().usedHeapMemory();
        long heldBefore = node.server.stats().heldBytes();
        try (SocketChannel one = connect();
                SocketChannel two = connect()) {
            new Sender(one).send(REQUEST_BYTES / 2);
            new Sender(two).send(REQUEST_BYTES / 2);
            while (node.server.stats().heldBytes() - heldBefore < REQUEST_BYTES - FRAME_BYTES) {
                Thread.sleep(5);
            }
            assertThat(UnpooledByteBufAllocator.DEFAULT.metric().usedDirectMemory() - before)
                    .isLessThan(REQUEST_BYTES / 10);
            assertThat(UnpooledByteBufAllocator.DEFAULT.metric().usedHeapMemory() - heapBefore)
                    .isLessThan(REQUEST_BYTES * 5L / 4);
        }
        while (node.server.stats().heldBytes() > heldBefore) {
            Thread.sleep(5);
        }
    }

    /** A client of HTTP/2 that sends part of one request, a small frame at a time, within the server's windows. */
    private static final class Sender {

        // RFC 9113, 6: types of frames, and the windows before any update.
        private static final int DATA = 0;
        private static final int HEADERS = 1;
        private static final int SETTINGS = 4;
        private static final int WINDOW_UPDATE = 8;
        private static final int END_HEADERS = 4;
        private static final int FIRST_WINDOW = 65_535;

        private final SocketChannel channel;
        private final ByteBuffer input = ByteBuffer.allocate(1 << 16).flip();
        private int connectionWindow = FIRST_WINDOW;
        private int streamWindow = FIRST_WINDOW;

        Sender(SocketChannel channel) throws IOException {
            this.channel = channel;
            write(channel, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            frame(SETTINGS, 0, 0, new byte[0]);
            frame(HEADERS, END_HEADERS, 1, headers());
        }

        void send(int bytes) throws IOException {
            ByteBuffer first = ByteBuffer.allocate(FRAME_BYTES);
            // The prefix of a message of gRPC: not compressed, then its length.
            first.put((byte) 0).putInt(REQUEST_BYTES);
            for (int sent = 0; sent < bytes; sent += FRAME_BYTES) {
                while (Math.min(connectionWindow, streamWindow) < FRAME_BYTES) {
                    receive();
                }
                frame(DATA, 0, 1, sent == 0 ? first.array() : new byte[FRAME_BYTES]);
                connectionWindow -= FRAME_BYTES;
                streamWindow -= FRAME_BYTES;
            }
        }

        private void frame(int type, int flags, int stream, byte[] payload) {
            ByteBuffer frame = ByteBuffer.allocate(9 + payload.length);
            frame.putInt(payload.length << 8 | type)
                    .put((byte) flags)
                    .putInt(stream)
                    .put(payload);
            write(channel, frame.array());
        }

        private void receive() throws IOException {
            int header = need(9).getInt();
            input.get();
            int stream = input.getInt();
            ByteBuffer payload = need(header >>> 8);
            if ((header & 0xff) == WINDOW_UPDATE) {
                int more = payload.getInt();
                connectionWindow += stream == 0 ? more : 0;
                streamWindow += stream == 0 ? 0 : more;
            } else {
                input.position(input.position() + (header >>> 8));
            }
        }

        private ByteBuffer need(int bytes) throws IOException {
            while (input.remaining() < bytes) {
                input.compact();
                assertThat(channel.read(input)).isPositive();
                input.flip();
            }
            return input;
        }

        /** Returns the head of a call in HPACK (RFC 7541): entries of the static table, and literals that are not indexed. */
        private static byte[] headers() {
            ByteArrayOutputStream head = new ByteArrayOutputStream();
            head.writeBytes(new byte[] {(byte) 0x83, (byte) 0x86, 0x04});
            text(head, "/datamodels.PlatformConnector/HealthEventOccurredV1");
            head.write(0x01);
            text(head, "localhost");
            head.writeBytes(new byte[] {0x0f, 0x10});
            text(head, "application/grpc");
            head.write(0x00);
            text(head, "te");
            text(head, "trailers");
            return head.toByteArray();
        }

        private static void text(ByteArrayOutputStream out, String text) {
            out.write(text.length());
            out.writeBytes(text.getBytes(StandardCharsets.US_ASCII));
        }
    }
}
