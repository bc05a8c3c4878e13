package dev.gpuwarden.nccl.group;

import dev.gpuwarden.nccl.group.Frames.Hello;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/** A process that is connected to process 0. */
final class Spoke implements Exchange {

    private static final long RETRY_NANOS = 100_000_000;

    private static final int CONNECT_MILLIS = 5000;

    private final Socket socket;
    private final DataInputStream in;
    private final DataOutputStream out;
    private final int processes;

    private Spoke(Socket socket, int processes) throws IOException {
        this.socket = socket;
        this.processes = processes;
        in = new DataInputStream(socket.getInputStream());
        out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()));
    }

    /** Connects to process 0, also before it listens, and waits until all processes are there. */
    static Spoke open(Place place, Place.Meeting meeting, Duration limit) throws IOException {
        long end = System.nanoTime() + limit.toNanos();
        while (true) {
            Socket socket = new Socket();
            try {
                socket.setTcpNoDelay(true);
                socket.connect(new InetSocketAddress(meeting.host(), meeting.port()), CONNECT_MILLIS);
                socket.setSoTimeout((int) Math.max(1, (end - System.nanoTime()) / 1_000_000));
                DataOutputStream out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()));
                Frames.writeHello(out, new Hello(place.process(), place.processes()));
                Frames.read(new DataInputStream(socket.getInputStream()), Frames.COMPLETE.length);
                socket.setSoTimeout(0);
                return new Spoke(socket, place.processes());
            } catch (IOException e) {
                Hub.closeQuietly(socket);
                if (System.nanoTime() + RETRY_NANOS > end) {
                    throw new Rendezvous.LateException(
                            "no answer of rank 0 at " + meeting.host() + ":" + meeting.port() + " within "
                                    + limit.toSeconds() + " s: " + e.getMessage() + "; another rank may be missing");
                }
                LockSupport.parkNanos(RETRY_NANOS);
            }
        }
    }

    @Override
    public List<byte[]> gather(byte[] mine) throws IOException {
        try {
            Frames.write(out, mine);
            out.flush();
            return Frames.readAll(in, processes);
        } catch (IOException e) {
            throw new IOException("rank 0 has left", e);
        }
    }

    @Override
    public void close() {
        Hub.closeQuietly(socket);
    }
}
