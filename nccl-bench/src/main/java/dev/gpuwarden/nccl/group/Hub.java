package dev.gpuwarden.nccl.group;

import dev.gpuwarden.core.util.Threads;
import dev.gpuwarden.nccl.group.Frames.Hello;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * The process 0, to which all others connect. A connection that does not begin with the magic number in time is closed and costs nothing
 * else; so does a second one for a process that is there already.
 */
final class Hub implements Exchange {

    /** Time for the first message of a connection. */
    private static final Duration HELLO = Duration.ofSeconds(5);

    /** Connections without a first message at the same time; further ones wait in the kernel's queue. */
    private static final int MOST_STRANGERS = 64;

    private final int processes;
    private final Socket[] sockets;
    private final Semaphore strangers = new Semaphore(MOST_STRANGERS);
    private int present = 1;
    private boolean closed;

    private Hub(int processes) {
        this.processes = processes;
        sockets = new Socket[processes];
    }

    /** Waits for all processes, sends each a message then, and returns the connection to them. */
    static Hub open(Place.Meeting meeting, int processes, Duration limit) throws IOException {
        Hub hub = new Hub(processes);
        try (ServerSocket server = new ServerSocket()) {
            server.setReuseAddress(true);
            // All addresses: the name of a host often stands for another of its networks.
            server.bind(new InetSocketAddress(meeting.port()), processes + MOST_STRANGERS);
            Threads.daemon("gpuwarden-bench-accept", () -> hub.accept(server)).start();
            hub.awaitAll(limit);
            for (int process = 1; process < processes; process++) {
                DataOutputStream out = out(hub.sockets[process]);
                Frames.write(out, Frames.COMPLETE);
                out.flush();
            }
            return hub;
        } catch (IOException e) {
            hub.close();
            throw e;
        }
    }

    private synchronized void awaitAll(Duration limit) throws IOException {
        long end = System.nanoTime() + limit.toNanos();
        while (present < processes) {
            long left = end - System.nanoTime();
            if (left <= 0) {
                throw new Rendezvous.LateException("only " + present + " of " + processes + " processes came within "
                        + limit.toSeconds() + " s; missing: " + missing());
            }
            try {
                TimeUnit.NANOSECONDS.timedWait(this, left);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IOException("interrupted", e);
            }
        }
    }

    private String missing() {
        List<String> missing = new ArrayList<>();
        for (int process = 1; process < processes && missing.size() < 10; process++) {
            if (sockets[process] == null) {
                missing.add("rank " + process);
            }
        }
        return String.join(", ", missing);
    }

    private void accept(ServerSocket server) {
        try {
            while (true) {
                strangers.acquire();
                Socket socket = server.accept();
                Threads.daemon("gpuwarden-bench-hello", () -> greet(socket)).start();
            }
        } catch (IOException e) {
            // The server is closed when all are there, or when the wait is over.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void greet(Socket socket) {
        try {
            socket.setTcpNoDelay(true);
            if (!admitted(Frames.hello(firstBytes(socket)), socket)) {
                socket.close();
            }
        } catch (IOException e) {
            closeQuietly(socket);
        } finally {
            strangers.release();
        }
    }

    /** Reads the first message. The limit is for all of it, so that single bytes in time do not extend it. */
    private static byte[] firstBytes(Socket socket) throws IOException {
        byte[] content = new byte[Frames.HELLO_BYTES];
        long end = System.nanoTime() + HELLO.toNanos();
        int length = 0;
        while (length < content.length) {
            socket.setSoTimeout((int) Math.max(1, (end - System.nanoTime()) / 1_000_000));
            int read = socket.getInputStream().read(content, length, content.length - length);
            if (read < 0 || System.nanoTime() > end) {
                throw new IOException("no first message");
            }
            length += read;
        }
        return content;
    }

    private synchronized boolean admitted(Hello hello, Socket socket) throws IOException {
        boolean expected = hello.processes() == processes && hello.process() > 0 && hello.process() < processes;
        if (closed || !expected || sockets[hello.process()] != null) {
            return false;
        }
        socket.setSoTimeout(0);
        sockets[hello.process()] = socket;
        present++;
        notifyAll();
        return true;
    }

    private static DataOutputStream out(Socket socket) throws IOException {
        return new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()));
    }

    @Override
    public List<byte[]> gather(byte[] mine) throws IOException {
        List<byte[]> all = new ArrayList<>(List.of(mine));
        for (int process = 1; process < processes; process++) {
            try {
                all.add(Frames.read(new DataInputStream(sockets[process].getInputStream()), MOST_BYTES));
            } catch (IOException e) {
                throw new IOException("rank " + process + " has left", e);
            }
        }
        for (int process = 1; process < processes; process++) {
            Frames.writeAll(out(sockets[process]), all);
        }
        return all;
    }

    @Override
    public void close() {
        synchronized (this) {
            closed = true;
        }
        for (Socket socket : sockets) {
            if (socket != null) {
                closeQuietly(socket);
            }
        }
    }

    static void closeQuietly(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            // Nothing is left to give back.
        }
    }
}
