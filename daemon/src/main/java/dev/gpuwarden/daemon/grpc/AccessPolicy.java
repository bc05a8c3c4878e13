package dev.gpuwarden.daemon.grpc;

import java.util.Set;

/**
 * Who may do what. Reading is for everybody who can connect: the socket's file mode and the listen address decide about that.
 *
 * @param ownUid the daemon's own user
 * @param adminUids users whom the administrator names
 */
record AccessPolicy(int ownUid, Set<Integer> adminUids) {

    private static final int ROOT = 0;

    /** Hand in events: every process that may open the socket, others with a certificate. */
    boolean mayReport(Peer peer) {
        return !(peer instanceof Peer.Anonymous);
    }

    /** Run checks, say that faults are mended. */
    boolean mayAdminister(Peer peer) {
        if (peer instanceof Peer.Process process) {
            return process.uid() == ROOT || process.uid() == ownUid || adminUids.contains(process.uid());
        }
        return peer instanceof Peer.Certified;
    }
}
