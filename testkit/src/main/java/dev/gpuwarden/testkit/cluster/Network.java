package dev.gpuwarden.testkit.cluster;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * The network of one cluster's nodes and this machine: a bridge in a network namespace of its own, which contains the API server
 * too. The kernel removes all of it, this machine's end too, when the processes in the namespace have ended.
 *
 * <p>Cluster number c of this machine has 10.88.c.0/24: this machine is .254, the API server .253, node k is .k and its pods are
 * in 10.(100+k).c.0/24.
 *
 * @param number of the cluster on this machine
 */
record Network(Program holder, int number) implements AutoCloseable {

    static final int MOST_NODES = 100;

    private static final int NUMBERS = 254;
    private static final Duration STARTING = Duration.ofMinutes(1);

    /** An empty file that the waiting process follows: its path in the command line identifies the cluster. */
    private static final String LOG = "network.log";

    /** @param folder of its log; deleted when this process dies before {@link #close()} */
    static Network start(Path folder) {
        Program holder = Program.start(
                folder,
                "network",
                "",
                List.of(
                        "unshare",
                        "--net",
                        "--fork",
                        "--kill-child",
                        "tail",
                        "-f",
                        folder.resolve(LOG).toString()));
        try {
            holder.await(STARTING, "a network namespace", () -> holder.inside().isPresent());
            return new Network(holder, claim(holder.inside().orElseThrow().pid()));
        } catch (RuntimeException | Error e) {
            holder.kill();
            throw e;
        }
    }

    /** Claims the first number that no other cluster of this machine has, by creating a device of that name. */
    private static int claim(long inside) {
        return Integer.parseInt(Shell.run("node/network.sh", Long.toString(inside), Integer.toString(NUMBERS))
                .strip());
    }

    /** Returns the place of the API server. */
    ControlPlane.Place middle() {
        return new ControlPlane.Place(
                "10.88." + number + ".253",
                List.of(
                        "nsenter",
                        "--target",
                        Long.toString(holder.inside().orElseThrow().pid()),
                        "--net"));
    }

    String node(int k) {
        return "10.88." + number + "." + k;
    }

    String pods(int k) {
        return "10." + (100 + k) + "." + number + ".0/24";
    }

    /** Creates a node's device `eth0`. */
    void connect(int k, long pid) {
        long inside = holder.inside().orElseThrow().pid();
        Shell.run(
                "node/connect.sh",
                Long.toString(inside),
                Long.toString(pid),
                Integer.toString(number),
                Integer.toString(k),
                Integer.toString(MOST_NODES));
    }

    @Override
    public void close() {
        holder.kill();
    }
}
