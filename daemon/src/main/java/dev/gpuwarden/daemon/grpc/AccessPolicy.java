package dev.gpuwarden.daemon.grpc;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;

/**
 * The permissions of clients. Every client that can connect may read; the socket's file mode and the listen address
 * limit that.
 *
 * @param ownUid the daemon's own user
 * @param adminUids users that the administrator names
 */
record AccessPolicy(int ownUid, Set<Integer> adminUids) {

    private static final int ROOT = 0;

    /** Returns true if the peer may report events: processes that may open the socket, and clients with a certificate. */
    boolean mayReport(Peer peer) {
        return !(peer instanceof Peer.Anonymous);
    }

    /** Returns true if the peer may run checks and clear faults. */
    boolean mayAdminister(Peer peer) {
        if (peer instanceof Peer.Process process) {
            return process.uid() == ROOT || process.uid() == ownUid || adminUids.contains(process.uid());
        }
        return peer instanceof Peer.Certified;
    }

    /** Returns the process's effective user, which owns the files of /proc/self (proc(5)). */
    static int processUid() {
        try {
            return (int) Files.getAttribute(Path.of("/proc/self"), "unix:uid");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
