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

/** The nodes of this user's processes, in a private folder where other processes find and change them. */
public final class RunningNodes {

    /**
     * A node of a process.
     *
     * @param pid of the process that created it and will delete it
     */
    public record Running(Path root, String scenario, long pid, Instant since) {}

    private final Path home;

    RunningNodes(Path home) {
        this.home = home;
    }

    /** Returns the nodes below `$XDG_RUNTIME_DIR/gpuwarden/nodes`, or below a private folder in the temporary folder. */
    public static RunningNodes ofUser() {
        String runtime = System.getenv("XDG_RUNTIME_DIR");
        if (runtime != null && !runtime.isEmpty() && Files.isWritable(Path.of(runtime))) {
            return new RunningNodes(Path.of(runtime, "gpuwarden", "nodes"));
        }
        // One level only: in a folder that every user can write to, a folder of another user is refused.
        String temporary = System.getProperty("java.io.tmpdir");
        return new RunningNodes(Path.of(temporary, "gpuwarden-nodes-" + System.getProperty("user.name")));
    }

    /** Starts a node that other processes can find. */
    public SimulatedNode start(Scenario scenario) {
        removeLeftOvers();
        Path root = folder(scenario.name());
        // The creator is recorded first, so that a killed process leaves nothing that cannot be cleaned up; readiness
        // last.
        write(root, scenario, false);
        SimulatedNode node = SimulatedNode.start(scenario, root);
        write(root, scenario, true);
        return node;
    }

    private static void write(Path root, Scenario scenario, boolean ready) {
        ProcessHandle self = ProcessHandle.current();
        // Written as a whole: half a note would look like that of a dead process.
        Tree.replace(
                new NodeFolder(root).about,
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

    /** Identifies a process: a pid can be used again. */
    private static String started(ProcessHandle process) {
        return process.info().startInstant().map(Instant::toString).orElse("");
    }

    /** Returns the nodes whose process lives, in order of their folders' names. */
    public List<Running> list() {
        return folders().stream()
                .map(Note::of)
                .filter(note -> note.ready() && note.alive())
                .map(Note::node)
                .toList();
    }

    /**
     * Returns the only node that runs.
     *
     * @throws UserError when none runs, or more than one
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

    /** The note of a node's creator. */
    private record Note(Running node, String started, boolean ready) {

        /** Reads the note; its values are empty where it does not exist yet. */
        static Note of(Path root) {
            Properties values = new Properties();
            Path file = new NodeFolder(root).about;
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

    /** Deletes nodes of processes that were killed. */
    private void removeLeftOvers() {
        for (Path root : folders()) {
            if (Files.exists(new NodeFolder(root).about) && !Note.of(root).alive()) {
                Tree.delete(root);
            }
        }
    }
}
