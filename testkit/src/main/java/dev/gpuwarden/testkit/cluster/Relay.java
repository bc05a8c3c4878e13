package dev.gpuwarden.testkit.cluster;

import dev.gpuwarden.core.util.Threads;
import dev.gpuwarden.testkit.Unchecked;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** A TCP relay on loopback between one program and a server: cuts that program off while others still reach the server. Thread-safe. */
public final class Relay implements AutoCloseable {

    private final int target;
    private final Set<Socket> open = ConcurrentHashMap.newKeySet();
    private final int port;
    private volatile ServerSocket door;
    private volatile boolean stalled;

    public Relay(int target) throws IOException {
        this.target = target;
        this.door = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        this.port = door.getLocalPort();
        listen();
    }

    public int port() {
        return port;
    }

    /** Closes all connections and refuses new ones, until {@link #back}. */
    public void away() throws IOException {
        door.close();
        for (Socket socket : open) {
            socket.close();
        }
    }

    /** Holds back all bytes in both directions and keeps connections open, like a firewall that drops or a switch that fails. */
    public void stall() {
        stalled = true;
    }

    /** Passes on the bytes that were held back. */
    public synchronized void flow() {
        stalled = false;
        notifyAll();
    }

    private synchronized void awaitFlow() throws InterruptedIOException {
        while (stalled) {
            try {
                wait();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new InterruptedIOException();
            }
        }
    }

    public void back() throws IOException {
        ServerSocket again = new ServerSocket();
        again.setReuseAddress(true);
        again.bind(new java.net.InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        door = again;
        listen();
    }

    private void listen() {
        ServerSocket here = door;
        start(() -> {
            while (true) {
                Socket from = here.accept();
                Socket to = new Socket(InetAddress.getLoopbackAddress(), target);
                open.add(from);
                open.add(to);
                start(() -> copy(from, to));
                start(() -> copy(to, from));
            }
        });
    }

    private void copy(Socket from, Socket to) throws IOException {
        try (from;
                to) {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            byte[] bytes = new byte[1 << 14];
            for (int n = in.read(bytes); n >= 0; n = in.read(bytes)) {
                awaitFlow();
                out.write(bytes, 0, n);
            }
        }
    }

    private static void start(Unchecked.Work work) {
        Threads.daemon("relay", () -> {
                    try {
                        work.run();
                    } catch (IOException e) {
                        // Closed by one of the two sides.
                    }
                })
                .start();
    }

    @Override
    public void close() throws IOException {
        away();
    }
}
