package dev.gpuwarden.testkit.cluster;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;

/** Ports for programs that must be told theirs. */
final class Ports {

    /** Below those that the system hands to outgoing connections (32768 on), which come and go at any time. */
    private static final int FIRST = 20_000;

    private static final int COUNT = 10_000;
    private static final int TRIES = 100;

    private Ports() {}

    /** A port of loopback where nobody listens now. Drawn by chance, so that two who ask at the same time differ. */
    static int free() {
        for (int i = 0; i < TRIES; i++) {
            int port = FIRST + ThreadLocalRandom.current().nextInt(COUNT);
            try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
                return socket.getLocalPort();
            } catch (IOException taken) {
                // The next one.
            }
        }
        throw new IllegalStateException("ports of loopback: expected a free one from " + FIRST + " on, tried " + TRIES);
    }
}
