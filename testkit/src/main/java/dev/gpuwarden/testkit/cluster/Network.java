package dev.gpuwarden.testkit.cluster;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * Joins the nodes of one cluster and this machine: a bridge in a network namespace of its own, where the API server is too. The
 * kernel takes all of it back, this machine's end too, when the processes in the namespace have ended.
 *
 * <p>Cluster number c of this machine has 10.88.c.0/24: this machine is .254, the API server .253, node k is .k and its pods are
 * in 10.(100+k).c.0/24.
 */
final class Network implements AutoCloseable {

    static final int MOST_NODES = 100;

    private static final int NUMBERS = 254;
    private static final Duration STARTING = Duration.ofMinutes(1);

    /** Something to wait for that tells whose it is; nobody writes to it. */
    private static final String LOG = "network.log";

    private final Program holder;
    private final int number;

    private Network(Program holder, int number) {
        this.holder = holder;
        this.number = number;
    }

    /** @param folder where its log is; deleted when this process dies before {@link #close()} */
    static Network start(Path folder) throws InterruptedException {
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
        } catch (RuntimeException | Error | InterruptedException e) {
            holder.kill();
            throw e;
        }
    }

    /** The first number that no other cluster of this machine has: making a device by its name is the claim. */
    private static int claim(long inside) {
        return Integer.parseInt(Shell.run("node/network.sh", Long.toString(inside), Integer.toString(NUMBERS))
                .strip());
    }

    /** Which of this machine's clusters it is. */
    int number() {
        return number;
    }

    /** Where the API server is. */
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

    /** Gives a node its device `eth0`. */
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
