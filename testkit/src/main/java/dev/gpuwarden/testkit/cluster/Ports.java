package dev.gpuwarden.testkit.cluster;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Ports of loopback for programs that must be told theirs: a range for each Java process, since between the look at a port and
 * the program that takes it any other process could have been given it. Who has a range listens at its first port. Thread-safe.
 */
final class Ports {

    /** Below those that the system hands to outgoing connections (32768 on), which come and go at any time. */
    private static final int FIRST = 20_000;

    private static final int RANGES = 100;
    private static final int RANGE = 100;

    private static final Ports OWN = new Ports();

    private final ServerSocket claim;
    private int last;

    /** @throws IllegalStateException when others have all ranges */
    Ports() {
        this.claim = claim();
        this.last = claim.getLocalPort();
    }

    private static ServerSocket claim() {
        int start = ThreadLocalRandom.current().nextInt(RANGES);
        for (int i = 0; i < RANGES; i++) {
            try {
                return listen(FIRST + (start + i) % RANGES * RANGE);
            } catch (IOException taken) {
                // The next one.
            }
        }
        throw new IllegalStateException("ports of loopback: expected one of " + RANGES + " ranges from " + FIRST
                + " on to be free, other processes listen at the first port of each");
    }

    private static ServerSocket listen(int port) throws IOException {
        return new ServerSocket(port, 1, InetAddress.getLoopbackAddress());
    }

    /** A port where no program listens now, and which no other Java process is given. */
    static int free() {
        return OWN.next();
    }

    /** The one after the last: a program that has just been given one may not listen yet. */
    synchronized int next() {
        int first = claim.getLocalPort();
        for (int i = 1; i < RANGE; i++) {
            last = last + 1 < first + RANGE ? last + 1 : first + 1;
            try (ServerSocket socket = listen(last)) {
                return socket.getLocalPort();
            } catch (IOException taken) {
                // The next one.
            }
        }
        throw new IllegalStateException("ports of loopback: expected a free one from " + (first + 1) + " to "
                + (first + RANGE - 1) + ", programs listen at all of them");
    }

    void close() throws IOException {
        claim.close();
    }
}
