package dev.gpuwarden.benchmarks;

import dev.gpuwarden.benchmarks.Attackers.AttackTally;
import dev.gpuwarden.benchmarks.Attackers.AttackTargets;
import dev.gpuwarden.benchmarks.HostileBrowsers.HttpAttacker.Manner;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ScheduledExecutorService;

/**
 * Attacks on the pages of both programs, from seven addresses: slow readers, connections without a request, requests sent
 * byte by byte, and fast readers. A turn takes a second; fast readers have four turns a second.
 */
final class HostileBrowsers {

    private static final int TICKS_PER_SECOND = 20;
    private static final int BRISK_TICKS = 5;
    private static final int SLOW = 160;
    private static final int IDLE = 400;
    private static final int DRIPPING = 64;
    private static final int BRISK = 8;
    private static final int TLS_IDLE = 200;

    private final List<HttpAttacker> attackers = new ArrayList<>();
    private final AttackTally tally;
    private int tick;

    HostileBrowsers(AttackTargets targets, AttackTally tally) {
        this.tally = tally;
        String token = "Authorization: Bearer " + targets.pageToken() + "\r\n";
        program(
                "daemon's page",
                targets.daemon(),
                List.of(
                        get("/metrics", ""),
                        get("/api/v1/node", ""),
                        get("/api/v1/events", ""),
                        get("/api/v1/faults", "")));
        program(
                "fleet page",
                targets.aggregator(),
                List.of(
                        get("/metrics", ""),
                        get("/api/v1/fleet", token),
                        get("/api/v1/fleet/news", token),
                        get("/api/v1/fleet", "Authorization: Bearer " + UUID.randomUUID() + "\r\n")));
        many("ingest", new InetSocketAddress("127.0.0.1", targets.ingest()), Manner.IDLE, TLS_IDLE, List.of(""));
    }

    private static String get(String path, String header) {
        return "GET " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + header + "\r\n";
    }

    private void program(String name, InetSocketAddress target, List<String> requests) {
        many(name, target, Manner.SLOW, SLOW, requests);
        many(name, target, Manner.IDLE, IDLE, List.of("G"));
        many(name, target, Manner.DRIPPING, DRIPPING, requests);
        many(name, target, Manner.BRISK, BRISK, requests);
    }

    private void many(String name, InetSocketAddress target, Manner manner, int count, List<String> requests) {
        for (int i = 0; i < count; i++) {
            InetSocketAddress from = new InetSocketAddress("127.0.0." + (2 + i % 7), 0);
            String request = requests.get(i % requests.size());
            String who = name + ", " + manner.name().toLowerCase(java.util.Locale.ROOT);
            attackers.add(new HttpAttacker(who, target, from, manner, request.isEmpty() ? "\u0016" : request, tally));
        }
    }

    void begin(ScheduledExecutorService timer) {
        tally.repeat(timer, 1000 / TICKS_PER_SECOND, this::turns);
    }

    private void turns() {
        tick++;
        for (int i = 0; i < attackers.size(); i++) {
            HttpAttacker attacker = attackers.get(i);
            int apart = attacker.manner() == Manner.BRISK ? BRISK_TICKS : TICKS_PER_SECOND;
            if ((tick + i) % apart == 0) {
                attacker.turn();
            }
        }
    }

    /** One attacker's connection. It takes its turns and reconnects when it ends. Confined to one thread. */
    static final class HttpAttacker {

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
                String status =
                        new String(INTO.array(), 9, Math.min(3, Math.max(0, count - 9)), StandardCharsets.US_ASCII);
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
}
