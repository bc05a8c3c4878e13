package dev.gpuwarden.testkit.cluster;

import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.testkit.Unchecked;
import dev.gpuwarden.testkit.sim.Tree;
import java.io.IOException;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/**
 * The one cluster that a user has from the command line. A process in the background holds it; files in its folder describe it to
 * other processes.
 */
public final class UserCluster {

    private static final long POLL_NANOS = 50_000_000;

    private final Path folder;

    UserCluster(Path folder) {
        this.folder = folder;
    }

    /** Returns the cluster of this user, in `gpuwarden-cluster-USER` below the temporary folder. */
    public static UserCluster ofUser() {
        return new UserCluster(
                Path.of(System.getProperty("java.io.tmpdir"), "gpuwarden-cluster-" + System.getProperty("user.name")));
    }

    /** Returns the log of the holder. */
    public Path log() {
        return folder.resolve("holder.log");
    }

    /** Returns the folder for the cluster itself. */
    public Path parts() {
        return folder.resolve("cluster");
    }

    public Path kubeconfig() {
        return parts().resolve("control-plane").resolve("admin.kubeconfig");
    }

    /** Returns the folder of a node's simulated GPUs. */
    public Path gpus(String node) {
        Path gpus = parts().resolve(node).resolve("gpus");
        if (!node.matches("node-[0-9]+") || !Files.isDirectory(gpus)) {
            throw new UserError("\"" + node + "\": expected a node of the cluster: " + String.join(", ", nodes()));
        }
        return gpus;
    }

    /** Checks that a cluster runs. @throws UserError when none runs */
    public void need() {
        if (!ready()) {
            throw new UserError("no cluster runs; start one with `gpuwarden cluster up`");
        }
    }

    /** Returns the folder that contains kubectl. */
    public Path tools() {
        return Binaries.ofUser().path("");
    }

    /**
     * A node in the API server.
     *
     * @param ready status of its condition: `True`, `False`, `Unknown`; `unknown to the API server` where it has no such Node
     * @param gpus folder of its simulated GPUs
     */
    public record NodeState(String name, String ready, String address, Path gpus) {}

    /**
     * Returns the nodes in order of their names; blocks while kubectl runs.
     *
     * @throws IllegalStateException when the API server does not answer, with the output of kubectl
     */
    public List<NodeState> states() {
        String seen = new Kubectl(Binaries.ofUser().path("kubectl"), folder)
                .run(
                        kubeconfig(),
                        "",
                        List.of(
                                "get",
                                "nodes",
                                "--output",
                                "jsonpath={range .items[*]}{.metadata.name} "
                                        + "{.status.conditions[?(@.type==\"Ready\")].status} "
                                        + "{.status.addresses[?(@.type==\"InternalIP\")].address}{\"\\n\"}{end}"));
        return nodes().stream().map(name -> state(name, seen)).toList();
    }

    private NodeState state(String name, String seen) {
        String[] words = seen.lines()
                .map(line -> line.split(" ", -1))
                .filter(line -> line.length == 3 && line[0].equals(name))
                .findFirst()
                .orElse(new String[] {name, "unknown to the API server", ""});
        return new NodeState(name, words[1], words[2], gpus(name));
    }

    /** Returns the names of its nodes. */
    public List<String> nodes() {
        if (!Files.isDirectory(parts())) {
            return List.of();
        }
        try (Stream<Path> folders = Files.list(parts())) {
            return folders.map(path -> parts().relativize(path).toString())
                    .filter(name -> name.matches("node-[0-9]+"))
                    .sorted((a, b) -> Integer.compare(number(a), number(b)))
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static int number(String node) {
        return Integer.parseInt(node.substring("node-".length()));
    }

    /** Creates the private folder for a cluster that starts. */
    public void claim() {
        try {
            Files.createDirectories(folder);
            Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwx------"));
        } catch (IOException e) {
            throw new UserError(folder + ": expected a folder of this user's own: " + e);
        }
    }

    /** Records that this process holds the cluster, and whether the cluster is ready. */
    public void note(boolean ready) {
        ProcessHandle self = ProcessHandle.current();
        Path next = folder.resolve("holder.next");
        Unchecked.run(() -> {
            Files.writeString(next, "pid=" + self.pid() + "\nstarted=" + started(self) + "\nready=" + ready + "\n");
            Files.move(next, notes(), StandardCopyOption.ATOMIC_MOVE);
        });
    }

    private Path notes() {
        return folder.resolve("holder.properties");
    }

    /** Returns the process that holds it, if that lives. */
    public Optional<ProcessHandle> holder() {
        Properties notes = readNotes();
        return ProcessHandle.of(Long.parseLong(notes.getProperty("pid", "0")))
                .filter(process -> started(process).equals(notes.getProperty("started")))
                // A zombie process has no program any more.
                .filter(process -> process.info().command().isPresent());
    }

    /** Returns true when its holder lives and all nodes have been Ready. */
    public boolean ready() {
        return holder().isPresent() && Boolean.parseBoolean(readNotes().getProperty("ready"));
    }

    private Properties readNotes() {
        Properties notes = new Properties();
        if (Files.isRegularFile(notes())) {
            try (Reader reader = Files.newBufferedReader(notes())) {
                notes.load(reader);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        return notes;
    }

    /** Identifies a process: a pid can be used again. */
    private static String started(ProcessHandle process) {
        return process.info().startInstant().map(Instant::toString).orElse("");
    }

    /**
     * Ends it and removes its remains, even when parts of it were killed before; blocks until that is done. Does nothing where there
     * is none.
     */
    public void end() {
        holder().ifPresent(ProcessHandle::destroy);
        while (holder().isPresent()) {
            LockSupport.parkNanos(POLL_NANOS);
        }
        // Processes that outlived a kill: see Folder.workers.
        while (Folder.workers(folder)
                .filter(ProcessHandle::destroyForcibly)
                .findAny()
                .isPresent()) {
            LockSupport.parkNanos(POLL_NANOS);
        }
        nodes().forEach(node -> ClusterNode.removeCgroups(parts().resolve(node)));
        Tree.delete(folder);
    }
}
