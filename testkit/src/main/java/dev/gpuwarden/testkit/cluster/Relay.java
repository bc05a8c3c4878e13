package dev.gpuwarden.testkit.cluster;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Stands on loopback between one program and a server, which can so be away and back while others still reach it. Thread-safe. */
public final class Relay implements AutoCloseable {

    private final int target;
    private final Set<Socket> open = ConcurrentHashMap.newKeySet();
    private final int port;
    private volatile ServerSocket door;

    public Relay(int target) throws IOException {
        this.target = target;
        this.door = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        this.port = door.getLocalPort();
        listen();
    }

    public int port() {
        return port;
    }

    /** From now on nobody is there. */
    public void away() throws IOException {
        door.close();
        for (Socket socket : open) {
            socket.close();
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

    private static void copy(Socket from, Socket to) throws IOException {
        try (from;
                to) {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            in.transferTo(out);
        }
    }

    private interface Work {
        void run() throws IOException;
    }

    private static void start(Work work) {
        Thread thread = new Thread(() -> {
            try {
                work.run();
            } catch (IOException e) {
                // Closed by one of the two sides.
            }
        });
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public void close() throws IOException {
        away();
    }
}
