package dev.gpuwarden.testkit.sim;

import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.testkit.scenario.Scenario;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
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
        SimulatedNode node = SimulatedNode.start(scenario, root);
        Tree.write(
                new NodeFolder(root).about(),
                "scenario=" + scenario.name() + "\npid="
                        + ProcessHandle.current().pid() + "\nstarted=" + started(ProcessHandle.current()) + "\nsince="
                        + Instant.now() + "\n");
        return node;
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
            throw new UncheckedIOException(e);
        }
    }

    /** Which process a pid meant: pids are used again. */
    private static String started(ProcessHandle process) {
        return process.info().startInstant().map(Instant::toString).orElse("");
    }

    /** Those whose process lives, in order of their folders' names. */
    public List<Running> list() {
        return folders().stream().flatMap(root -> running(root).stream()).toList();
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

    private static Optional<Running> running(Path root) {
        Path about = new NodeFolder(root).about();
        if (!Files.isRegularFile(about)) {
            return Optional.empty();
        }
        Map<String, String> values = new TreeMap<>();
        Tree.read(about).lines().map(line -> line.split("=", 2)).forEach(pair -> values.put(pair[0], pair[1]));
        long pid = Long.parseLong(values.getOrDefault("pid", "0"));
        boolean alive = ProcessHandle.of(pid)
                .filter(process -> started(process).equals(values.get("started")))
                .isPresent();
        return alive
                ? Optional.of(new Running(
                        root,
                        values.getOrDefault("scenario", ""),
                        pid,
                        Instant.parse(values.getOrDefault("since", ""))))
                : Optional.empty();
    }

    /** Deletes nodes whose process was killed before it could do so. One without a note may be in the making: it is left. */
    private void removeLeftOvers() {
        for (Path root : folders()) {
            if (Files.exists(new NodeFolder(root).about()) && running(root).isEmpty()) {
                Tree.delete(root);
            }
        }
    }
}
