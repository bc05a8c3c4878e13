package dev.gpuwarden.testkit.cluster;

import dev.gpuwarden.cli.UserError;
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
 * The one cluster that a user has from the command line. A process in the background holds it; the notes in its folder tell
 * others of it.
 */
public final class UserCluster {

    private static final long POLL_NANOS = 50_000_000;

    private final Path folder;

    UserCluster(Path folder) {
        this.folder = folder;
    }

    /** `gpuwarden-cluster-USER` below the temporary folder. */
    public static UserCluster ofUser() {
        return new UserCluster(
                Path.of(System.getProperty("java.io.tmpdir"), "gpuwarden-cluster-" + System.getProperty("user.name")));
    }

    /** Where everything of it is. */
    public Path folder() {
        return folder;
    }

    /** What the holder says while it starts, and its last words. */
    public Path log() {
        return folder.resolve("holder.log");
    }

    /** For the cluster itself. */
    public Path parts() {
        return folder.resolve("cluster");
    }

    public Path kubeconfig() {
        return parts().resolve("control-plane").resolve("admin.kubeconfig");
    }

    /** The folder of a node's simulated GPUs. */
    public Path gpus(String node) {
        Path gpus = parts().resolve(node).resolve("gpus");
        if (!node.matches("node-[0-9]+") || !Files.isDirectory(gpus)) {
            throw new UserError("\"" + node + "\": expected a node of the cluster: " + String.join(", ", nodes()));
        }
        return gpus;
    }

    /** @throws UserError when none runs */
    public void need() {
        if (!ready()) {
            throw new UserError("no cluster runs; start one with `gpuwarden cluster up`");
        }
    }

    /** The folder that has kubectl. */
    public Path tools() {
        return Binaries.ofUser().path("");
    }

    /**
     * A node as the API server sees it.
     *
     * @param ready the status of its condition: `True`, `False`, `Unknown`; `unknown to the API server` when that does not know it
     * @param gpus the folder of what is simulated
     */
    public record NodeState(String name, String ready, String address, Path gpus) {}

    /**
     * In order of their names; blocks for as long as kubectl does.
     *
     * @throws IllegalStateException when the API server does not answer, with what kubectl said
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

    /** Names of its nodes. */
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

    /** Makes the private folder, for a cluster that starts. */
    public void claim() {
        try {
            Files.createDirectories(folder);
            Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwx------"));
        } catch (IOException e) {
            throw new UserError(folder + ": expected a folder of this user's own: " + e);
        }
    }

    /** Notes that this process holds the cluster, and whether it is there yet. */
    public void note(boolean ready) {
        ProcessHandle self = ProcessHandle.current();
        Path next = folder.resolve("holder.next");
        try {
            Files.writeString(next, "pid=" + self.pid() + "\nstarted=" + started(self) + "\nready=" + ready + "\n");
            Files.move(next, notes(), StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private Path notes() {
        return folder.resolve("holder.properties");
    }

    /** The process that holds it, if it lives. */
    public Optional<ProcessHandle> holder() {
        Properties notes = readNotes();
        return ProcessHandle.of(Long.parseLong(notes.getProperty("pid", "0")))
                .filter(process -> started(process).equals(notes.getProperty("started")))
                // One that was killed and not yet asked after by its parent has no program any more.
                .filter(process -> process.info().command().isPresent());
    }

    /** Whether its holder lives and all nodes were Ready once. */
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

    /** Which process a pid meant: pids are used again. */
    private static String started(ProcessHandle process) {
        return process.info().startInstant().map(Instant::toString).orElse("");
    }

    /**
     * Ends it and removes all that is left of it, whatever of it was killed before; blocks until that is done. Nothing there is
     * fine.
     */
    public void end() {
        holder().ifPresent(ProcessHandle::destroy);
        while (holder().isPresent()) {
            LockSupport.parkNanos(POLL_NANOS);
        }
        // What is killed by now, or killed badly: see Folder.workers.
        while (Folder.workers(folder)
                .filter(ProcessHandle::destroyForcibly)
                .findAny()
                .isPresent()) {
            LockSupport.parkNanos(POLL_NANOS);
        }
        nodes().forEach(node -> ClusterNode.removeCgroups(parts().resolve(node)));
        Folder.delete(folder);
    }
}
