package dev.gpuwarden.daemon.grpc;

import dev.gpuwarden.checks.process.CallingProcess;
import dev.gpuwarden.core.event.Reporter;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.process.Owner;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;

/**
 * The permissions of clients: to ask, to report faults, and to end them. Every client that can connect may ask; the
 * socket's file mode and the listen address limit that. Nothing else follows from it. Thread-safe; reads /proc.
 *
 * @param ownUid the daemon's own user
 * @param adminUids users that the administrator names
 * @param reporters processes that may report on the socket for events
 */
record AccessPolicy(int ownUid, Set<Integer> adminUids, ReporterRules reporters, CallingProcess.Lookup callers) {

    private static final int ROOT = 0;

    /** A decision: the reporter under which events are stored, or the cause of the refusal. */
    record Permission(Optional<Reporter> reporter, String why) {

        private static Permission of(Reporter reporter) {
            return new Permission(Optional.of(reporter), "");
        }

        private static Permission refused(String why) {
            return new Permission(Optional.empty(), why);
        }
    }

    /**
     * Returns whether the peer may report events.
     *
     * @param forEvents true on the socket for events, false on the socket for queries and over TCP
     */
    Permission report(Peer peer, boolean forEvents) {
        if (peer instanceof Peer.Certified certified) {
            return Permission.of(Reporters.of(certified));
        }
        if (!(peer instanceof Peer.Process process)) {
            return Permission.refused("events are taken from a Unix socket or with a certificate; this is " + peer);
        }
        CallingProcess caller = find(process);
        if (administers(caller) || forEvents && reporters.permit(caller)) {
            return Permission.of(Reporters.of(caller));
        }
        return Permission.refused((forEvents
                        ? "expected a reporter that --events.reporters names (" + reporters + ")"
                        : "expected root, the daemon's user or one of --grpc.admin-uids, outside containers;"
                                + " other reporters use the socket of --events.socket")
                + ", seen " + Reporters.of(caller).name()
                + (caller.owner() instanceof Owner.Unknown unknown ? " (" + unknown.cause() + ")" : ""));
    }

    /** Returns true if the peer may run checks, take GPUs and end faults. */
    boolean mayAdminister(Peer peer) {
        return refusal(peer).isEmpty();
    }

    /** Returns why the peer may not administer; empty if it may. */
    Optional<String> refusal(Peer peer) {
        if (peer instanceof Peer.Certified) {
            return Optional.empty();
        }
        if (!(peer instanceof Peer.Process process) || !named(process.uid())) {
            return Optional.of("this is " + peer);
        }
        CallingProcess caller = find(process);
        if (administers(caller)) {
            return Optional.empty();
        }
        String where = caller.ofNode() instanceof Reading.Absent<Boolean> unseen
                ? "whose PID namespace is unknown (" + unseen.text() + ")"
                : "in a container";
        return Optional.of("this is " + peer + ", " + where);
    }

    /** Root in a container is root on the socket too, so the user alone proves nothing. */
    private boolean administers(CallingProcess caller) {
        return named(caller.uid()) && caller.ofNode().equals(Reading.of(true));
    }

    private boolean named(int uid) {
        return uid == ROOT || uid == ownUid || adminUids.contains(uid);
    }

    private CallingProcess find(Peer.Process process) {
        return callers.find(process.pid(), process.uid(), process.connectedAtNanos());
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
