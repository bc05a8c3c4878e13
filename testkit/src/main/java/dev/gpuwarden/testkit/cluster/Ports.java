package dev.gpuwarden.testkit.cluster;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Ports of loopback for programs that need one as an option. Each Java process has a range, since another process could take a port
 * between its choice and its use. The owner of a range listens at its first port. Thread-safe.
 */
final class Ports {

    /** Below the ports that the system uses for outgoing connections (32768 and more). */
    private static final int FIRST = 20_000;

    private static final int RANGES = 100;
    private static final int RANGE = 100;

    private static final Ports OWN = new Ports();

    private final ServerSocket claim;
    private int last;

    /** @throws IllegalStateException when other processes have all ranges */
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

    /** Returns a port where no program listens now; no other Java process gets it. */
    static int free() {
        return OWN.next();
    }

    /** Returns the next port after the last: the program that got the last one may not listen yet. */
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
