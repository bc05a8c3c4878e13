package dev.gpuwarden.daemon.uplink;

import dev.gpuwarden.core.util.Threads;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;

/** A relay between a node and its aggregator, which can swallow all that its present connections carry. */
final class SwallowingRelay implements AutoCloseable {

    private final ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    private final List<Relayed> connections = new CopyOnWriteArrayList<>();
    private final int target;

    SwallowingRelay(int target) throws IOException {
        this.target = target;
        Threads.daemon("relay", this::accept).start();
    }

    int port() {
        return server.getLocalPort();
    }

    /** From now on the present connections take all bytes and pass none on. New connections work. */
    void swallow() {
        connections.forEach(connection -> connection.swallows.set(true));
    }

    private void accept() {
        try {
            while (true) {
                Socket node = server.accept();
                Relayed connection = new Relayed(node, new Socket(InetAddress.getLoopbackAddress(), target));
                connections.add(connection);
                connection.copy(connection.node, connection.aggregator);
                connection.copy(connection.aggregator, connection.node);
            }
        } catch (IOException e) {
            // Closed.
        }
    }

    @Override
    public void close() throws IOException {
        server.close();
        for (Relayed connection : connections) {
            connection.node.close();
            connection.aggregator.close();
        }
    }

    private record Relayed(Socket node, Socket aggregator, AtomicBoolean swallows) {

        Relayed(Socket node, Socket aggregator) {
            this(node, aggregator, new AtomicBoolean());
        }

        void copy(Socket from, Socket to) {
            Threads.daemon("relay-copy", () -> pump(from, to)).start();
        }

        private void pump(Socket from, Socket to) {
            byte[] buffer = new byte[16 << 10];
            try {
                InputStream in = from.getInputStream();
                OutputStream out = to.getOutputStream();
                for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
                    if (!swallows.get()) {
                        out.write(buffer, 0, read);
                        out.flush();
                    }
                }
                if (!swallows.get()) {
                    to.close();
                }
            } catch (IOException e) {
                // One side has ended.
            }
        }
    }
}
