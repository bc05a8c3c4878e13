package dev.gpuwarden.checks.process;

import dev.gpuwarden.checks.node.NodePaths;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.process.Owner;
import dev.gpuwarden.core.process.ProcessFacts;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;

/**
 * A process that calls the daemon over a Unix socket, by what the kernel reports of it.
 *
 * @param uid its user when it connected
 * @param owner of its cgroup; {@link Owner.Unknown} where it cannot be looked up
 * @param ofNode whether it shares the daemon's PID namespace: so do processes of the node and pods with hostPID, and none
 *     of an ordinary container. Absent, with the cause, where it cannot be seen
 */
public record CallingProcess(int uid, Owner owner, Reading<Boolean> ofNode) {

    /** A lookup of calling processes; reads /proc. Thread-safe. */
    public interface Lookup {

        /** @param connectedAtNanos time of its connection by {@link System#nanoTime} */
        CallingProcess find(int pid, int uid, long connectedAtNanos);

        /** Returns the lookup for a node. */
        static Lookup of(NodePaths paths) {
            return (pid, uid, connectedAtNanos) ->
                    new CallingProcess(uid, facts(paths, pid, connectedAtNanos).owner(), ofNode(pid, connectedAtNanos));
        }
    }

    /** Returns the facts of a process that has connected. Nothing is kept between two calls: it could be of another process. */
    public static ProcessFacts facts(NodePaths paths, int pid, long connectedAtNanos) {
        long age = System.nanoTime() - connectedAtNanos;
        return Objects.requireNonNull(
                new ProcessOwners(paths).lookUp(Map.of(pid, age)).get(pid));
    }

    private static Reading<Boolean> ofNode(int pid, long connectedAtNanos) {
        if (pid == 0) {
            return Reading.absent(
                    dev.gpuwarden.core.model.Absence.NO_DATA,
                    0,
                    "it is in a PID namespace that this daemon cannot see");
        }
        // The kernel reports the number in the daemon's own namespace, whatever --path.procfs is.
        NodePaths own = NodePaths.of(Path.of("/proc"), Path.of("/sys"), Path.of("/var/log/pods"));
        return new ProcessOwners(own).sharesNamespace(pid, System.nanoTime() - connectedAtNanos);
    }
}
