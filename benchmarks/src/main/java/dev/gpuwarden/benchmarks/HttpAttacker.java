package dev.gpuwarden.benchmarks;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;

/** One attacker's connection, which takes its turn now and then and opens another when it ends. For one thread. */
final class HttpAttacker {

    /** What it does with its connection. */
    enum Manner {
        /** Connects, sends one byte, waits. */
        IDLE,
        /** Sends its request byte by byte, without end. */
        DRIPPING,
        /** Takes some bytes of the answer each turn. */
        SLOW,
        /** Takes all that there is, and asks again. */
        BRISK
    }

    private static final int SIP_BYTES = 64;
    /** The empty line after the last header. */
    private static final int END_BYTES = 2;
    /** So small that an answer stays with the one who gives it. */
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
     * @param name in the tally
     * @param from the attacker's own address, port 0
     * @param request from "GET" to the last line; a dripping one goes on with more headers
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
            // All of the request but its end is there: a header that never ends follows.
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
            // "HTTP/1.1 200": for who takes so little as well.
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
            // It is over either way.
        }
        channel = null;
    }
}
