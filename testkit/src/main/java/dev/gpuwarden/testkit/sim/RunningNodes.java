package dev.gpuwarden.testkit.sim;

import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.testkit.scenario.Scenario;
import java.io.IOException;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Nodes that this user's processes run, in a folder of the user's own, so that another process can find and change them. */
public final class RunningNodes {

    /**
     * A node that some process runs.
     *
     * @param pid of the process that made it and will delete it
     */
    public record Running(Path root, String scenario, long pid, Instant since) {}

    private final Path home;

    RunningNodes(Path home) {
        this.home = home;
    }

    /** `$XDG_RUNTIME_DIR/gpuwarden/nodes`, else a folder of the user's below the temporary folder. */
    public static RunningNodes ofUser() {
        String runtime = System.getenv("XDG_RUNTIME_DIR");
        if (runtime != null && !runtime.isEmpty() && Files.isWritable(Path.of(runtime))) {
            return new RunningNodes(Path.of(runtime, "gpuwarden", "nodes"));
        }
        // One level only: what lies in a folder that everybody can write to belongs to this user or is refused.
        String temporary = System.getProperty("java.io.tmpdir");
        return new RunningNodes(Path.of(temporary, "gpuwarden-nodes-" + System.getProperty("user.name")));
    }

    /** Starts a node that others can find. */
    public SimulatedNode start(Scenario scenario) {
        removeLeftOvers();
        Path root = folder(scenario.name());
        // First who makes it, so that nothing is left behind whenever this process is killed; ready last.
        write(root, scenario, false);
        SimulatedNode node = SimulatedNode.start(scenario, root);
        write(root, scenario, true);
        return node;
    }

    private static void write(Path root, Scenario scenario, boolean ready) {
        ProcessHandle self = ProcessHandle.current();
        // Whole or not at all: a half-written note would look like a dead process's.
        Tree.replace(
                new NodeFolder(root).about(),
                "scenario=" + scenario.name() + "\npid=" + self.pid() + "\nstarted=" + started(self) + "\nsince="
                        + Instant.now() + "\nready=" + ready + "\n");
    }

    private Path folder(String scenario) {
        try {
            Files.createDirectories(home);
            Files.setPosixFilePermissions(home, PosixFilePermissions.fromString("rwx------"));
            for (int n = 1; ; n++) {
                Path root = home.resolve(scenario + "-" + n);
                try {
                    return Files.createDirectory(root);
                } catch (FileAlreadyExistsException taken) {
                    // The next number.
                }
            }
        } catch (IOException e) {
            throw new UserError(home + ": expected a folder of this user's own: " + e);
        }
    }

    /** Which process a pid meant: pids are used again. */
    private static String started(ProcessHandle process) {
        return process.info().startInstant().map(Instant::toString).orElse("");
    }

    /** Those whose process lives, in order of their folders' names. */
    public List<Running> list() {
        return folders().stream()
                .map(Note::of)
                .filter(note -> note.ready() && note.alive())
                .map(Note::node)
                .toList();
    }

    /**
     * The one node that runs.
     *
     * @throws UserError if there is none or more than one
     */
    public Path only() {
        List<Running> running = list();
        if (running.size() == 1) {
            return running.get(0).root();
        }
        if (running.isEmpty()) {
            throw new UserError("no simulated node runs; start one with `gpuwarden sim exec SCENARIO -- COMMAND`");
        }
        throw new UserError("several simulated nodes run; choose one with --node: "
                + running.stream().map(r -> r.root().toString()).collect(Collectors.joining(", ")));
    }

    private List<Path> folders() {
        if (!Files.isDirectory(home)) {
            return List.of();
        }
        try (Stream<Path> folders = Files.list(home)) {
            return new ArrayList<>(folders.sorted().toList());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** What a node's maker wrote down. */
    private record Note(Running node, String started, boolean ready) {

        /** Empty values where nothing is written (yet). */
        static Note of(Path root) {
            Properties values = new Properties();
            Path file = new NodeFolder(root).about();
            if (Files.isRegularFile(file)) {
                try (Reader reader = Files.newBufferedReader(file)) {
                    values.load(reader);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
            return new Note(
                    new Running(
                            root,
                            values.getProperty("scenario", ""),
                            Long.parseLong(values.getProperty("pid", "0")),
                            Instant.parse(values.getProperty("since", Instant.EPOCH.toString()))),
                    values.getProperty("started", ""),
                    Boolean.parseBoolean(values.getProperty("ready")));
        }

        boolean alive() {
            return ProcessHandle.of(node.pid())
                    .filter(process -> RunningNodes.started(process).equals(started))
                    .isPresent();
        }
    }

    /** Deletes nodes whose process was killed before it could do so. */
    private void removeLeftOvers() {
        for (Path root : folders()) {
            if (Files.exists(new NodeFolder(root).about()) && !Note.of(root).alive()) {
                Tree.delete(root);
            }
        }
    }
}
