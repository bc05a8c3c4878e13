package dev.gpuwarden.benchmarks;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;

/** One attacker's connection. It takes its turns and reconnects when it ends. Confined to one thread. */
final class HttpAttacker {

    /** The attacker's use of its connection. */
    enum Manner {
        /** Connects, sends one byte and waits. */
        IDLE,
        /** Sends its request byte by byte, without end. */
        DRIPPING,
        /** Reads some bytes of the answer each turn. */
        SLOW,
        /** Reads all available bytes and sends the next request. */
        BRISK
    }

    private static final int SIP_BYTES = 64;
    /** The empty line after the last header. */
    private static final int END_BYTES = 2;
    /** The size of the receive buffer in bytes: so small that the answer stays with the server. */
    private static final int SLOW_BUFFER_BYTES = 2048;

    private static final ByteBuffer INTO = ByteBuffer.allocate(1 << 20);

    private final String name;
    private final InetSocketAddress target;
    private final InetSocketAddress from;
    private final Manner manner;
    private final byte[] request;
    private final AttackTally tally;
    private SocketChannel channel;
    private int sent;
    private boolean answered;

    /**
     * @param name name in the tally
     * @param from attacker's own address, with port 0
     * @param request request from "GET" to the last line; a dripping one continues with more headers
     */
    HttpAttacker(
            String name,
            InetSocketAddress target,
            InetSocketAddress from,
            Manner manner,
            String request,
            AttackTally tally) {
        this.name = name;
        this.target = target;
        this.from = from;
        this.manner = manner;
        this.request = request.getBytes(StandardCharsets.US_ASCII);
        this.tally = tally;
    }

    Manner manner() {
        return manner;
    }

    void turn() {
        try {
            if (channel == null) {
                open();
            }
            if (channel.isConnected() || channel.finishConnect()) {
                write();
                read();
            }
        } catch (IOException e) {
            tally.count(name + ", ended: " + (answered ? "while it read" : "without an answer"));
            close();
        }
    }

    private void open() throws IOException {
        sent = 0;
        answered = false;
        channel = SocketChannel.open();
        channel.configureBlocking(false);
        if (manner == Manner.SLOW) {
            channel.setOption(StandardSocketOptions.SO_RCVBUF, SLOW_BUFFER_BYTES);
        }
        channel.bind(from);
        channel.connect(target);
        tally.count(name + ", connections");
    }

    private void write() throws IOException {
        boolean whole = manner == Manner.SLOW || manner == Manner.BRISK;
        if (manner == Manner.DRIPPING && sent >= request.length - END_BYTES) {
            // The request lacks its end, so the server waits for more headers.
            sent += channel.write(ByteBuffer.wrap(request, 0, 1));
        } else if (sent < (manner == Manner.IDLE ? 1 : request.length)) {
            sent += channel.write(ByteBuffer.wrap(request, sent, whole ? request.length - sent : 1));
        }
    }

    private void read() throws IOException {
        INTO.clear().limit(manner == Manner.BRISK ? INTO.capacity() : SIP_BYTES);
        int count = channel.read(INTO);
        if (count > 0 && !answered) {
            answered = true;
            // Reads "HTTP/1.1 200" from the first bytes, which slow readers have too.
            String status = new String(INTO.array(), 9, Math.min(3, Math.max(0, count - 9)), StandardCharsets.US_ASCII);
            tally.count(name + ", answered " + status);
        }
        if (count < 0) {
            if (!answered) {
                tally.count(name + ", ended: without an answer");
            }
            close();
        }
    }

    void close() {
        try {
            if (channel != null) {
                channel.close();
            }
        } catch (IOException e) {
            // The connection ends in either case.
        }
        channel = null;
    }
}
