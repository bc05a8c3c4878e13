package dev.gpuwarden.testkit.cluster;

import dev.gpuwarden.testkit.Resource;
import dev.gpuwarden.testkit.Unchecked;
import dev.gpuwarden.testkit.cluster.Cluster.NodeNeeds;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import dev.gpuwarden.testkit.sim.Tree;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;

/**
 * One boot of a node: its first process in namespaces of its own, with its end of the network and its device plugin. The disks stay,
 * in the node's folder; `/run` is empty at its start.
 */
record NodeBoot(Machine machine, Program program, DevicePlugin plugin) implements AutoCloseable {

    /** The exit code of a first process that has to restart the node. */
    static final int RESTART = 75;

    /** Limit of the start of its namespaces. */
    private static final Duration STARTING = Duration.ofMinutes(5);

    /**
     * The parts of a node that outlive a boot.
     *
     * @param k its number
     * @param cgroup the name of its cgroups
     */
    record Machine(Path folder, int k, String cgroup, SimulatedNode gpus, Binaries binaries, Network network) {

        /** Blocks until its first process runs and its network is connected. */
        NodeBoot boot() {
            Unchecked.run(() -> Files.deleteIfExists(folder.resolve("connected")));
            Tree.delete(folder.resolve("run"));
            Shell.run("node/make-cgroups.sh", cgroup, NodeNeeds.CGROUPS.toString());
            Program program = run();
            try {
                program.await(STARTING, "namespaces", () -> program.inside().isPresent());
                long inside = program.inside().orElseThrow().pid();
                network.connect(k, inside);
                Files.createFile(folder.resolve("connected"));
                return new NodeBoot(
                        this,
                        program,
                        DevicePlugin.start(
                                inside, gpus.control(), () -> OperatorServices.devicePluginRuns(gpus.root())));
            } catch (IOException e) {
                end(program);
                throw new UncheckedIOException(e);
            } catch (RuntimeException | Error e) {
                end(program);
                throw e;
            }
        }

        private Program run() {
            return Program.start(
                    folder,
                    "node",
                    "(\nset -- " + cgroup + " " + NodeNeeds.CGROUPS + "\n"
                            + Resource.text("cluster/node/remove-cgroups.sh") + ")\n",
                    List.of(
                            "unshare",
                            "--pid",
                            "--mount",
                            "--net",
                            "--uts",
                            "--ipc",
                            "--fork",
                            "--kill-child",
                            "--mount-proc",
                            "sh",
                            "-c",
                            Resource.text("cluster/node/node.sh"),
                            "node",
                            folder.toString(),
                            gpus.root().toString(),
                            binaries.path("").toString(),
                            Binaries.containerd(),
                            "node-" + k,
                            network.node(k)));
        }

        private void end(Program program) {
            program.kill();
            Program.uninterrupted(() -> Shell.run("node/remove-cgroups.sh", cgroup, NodeNeeds.CGROUPS.toString()));
        }
    }

    /** Returns true while its first process lives. */
    boolean running() {
        return program.running();
    }

    void whenItEnds(Runnable action) {
        program.whenItEnds(action);
    }

    /** Returns the exit code of its first process; empty while that runs. */
    OptionalInt exitCode() {
        return running()
                ? OptionalInt.empty()
                : OptionalInt.of(program.process().exitValue());
    }

    /** Ends it like a power cut; returns when no process of it is left. */
    @Override
    public void close() {
        plugin.close();
        machine.end(program);
    }
}
