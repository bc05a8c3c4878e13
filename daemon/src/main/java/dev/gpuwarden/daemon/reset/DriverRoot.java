package dev.gpuwarden.daemon.reset;

import dev.gpuwarden.checks.child.ChildRun;
import dev.gpuwarden.checks.child.FileTrust;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The place of the driver's programs. In a container it is below the host's root, because a broken GPU keeps the runtime from
 * mounting them.
 *
 * @param program nvidia-smi, as its own root names it
 * @param root the root with which it runs; "/" for this one
 * @param libraries the folder that it needs for its libraries; empty where its own root has them in the usual place
 */
public record DriverRoot(Path program, Path root, Optional<Path> libraries) {

    static final Path HOST = Path.of("/host");

    /** The GPU operator's driver container, and the host itself. */
    private static final List<String> ROOTS = List.of("run/nvidia/driver", "");

    private static final List<String> PROGRAMS = List.of("usr/bin/nvidia-smi", "usr/local/nvidia/bin/nvidia-smi");

    private static final List<String> LIBRARIES =
            List.of("usr/lib/x86_64-linux-gnu", "usr/lib/aarch64-linux-gnu", "usr/lib64", "usr/lib");

    private static final int MOST_LINKS = 40;

    /** GKE's place on its own operating system (facts of NVSentinel's issue 1681). */
    private static final String GKE = "home/kubernetes/bin/nvidia";

    /** Returns a program that the user named. */
    public static DriverRoot of(Path program) {
        return new DriverRoot(program, Path.of("/"), Optional.empty());
    }

    /** Searches below the host's root where it is mounted, else below this root. Empty if nvidia-smi is at no known place. */
    public static Optional<DriverRoot> find() {
        return find(Files.isDirectory(HOST) ? HOST : Path.of("/"));
    }

    static Optional<DriverRoot> find(Path base) {
        Path gke = base.resolve(GKE);
        Stream<DriverRoot> usual = ROOTS.stream()
                .map(base::resolve)
                .flatMap(root -> PROGRAMS.stream()
                        .filter(name -> Files.isExecutable(below(root, Path.of(name))))
                        .map(name -> new DriverRoot(Path.of("/" + name), root, Optional.empty())));
        Stream<DriverRoot> google = Files.isExecutable(gke.resolve("bin/nvidia-smi"))
                ? Stream.of(
                        new DriverRoot(gke.resolve("bin/nvidia-smi"), Path.of("/"), Optional.of(gke.resolve("lib64"))))
                : Stream.empty();
        return Stream.concat(usual, google).findFirst();
    }

    /** Returns the folders that may have the driver's libraries, for a program outside this root; none where it is our own. */
    public List<String> libraryFolders() {
        return root.equals(Path.of("/"))
                ? libraries.stream().map(Path::toString).toList()
                : LIBRARIES.stream()
                        .map(root::resolve)
                        .filter(Files::isDirectory)
                        .map(Path::toString)
                        .toList();
    }

    /** Returns true if the driver has this program beside nvidia-smi. */
    boolean has(String name) {
        return Files.isExecutable(below(root, program.resolveSibling(name)));
    }

    /**
     * Runs the program of this name beside nvidia-smi, with this program's rights. One that another user can change is not started.
     * Blocks for this time at most.
     */
    ChildRun run(String name, List<String> arguments, Duration longest, ChildRun.Stop stop)
            throws InterruptedException {
        Optional<String> problem = problem(program.resolveSibling(name));
        return problem.isPresent()
                ? new ChildRun(new ChildRun.End.NotStarted(problem.get()), "", "")
                : ChildRun.of(command(name, arguments), Path.of("/"), System.getenv(), longest, stop);
    }

    /** Returns why nvidia-smi must not run; empty if it may. */
    public Optional<String> problem() {
        return problem(program);
    }

    private Optional<String> problem(Path file) {
        Path real = below(root, file);
        return FileTrust.problem(real)
                .map(why -> real + " " + why)
                .or(() -> libraries.flatMap(
                        folder -> FileTrust.folderProblem(folder).map(why -> folder + " " + why)));
    }

    /** Returns the name of nvidia-smi. */
    String name() {
        return program.getFileName().toString();
    }

    /** Returns the real path of a file below another root, in which links are those of that root. A link to itself stays. */
    static Path below(Path root, Path file) {
        Path inside = Path.of("/");
        Deque<Path> left = new ArrayDeque<>();
        file.forEach(left::add);
        for (int links = 0; !left.isEmpty(); ) {
            Path next = left.removeFirst();
            if (next.toString().equals("..")) {
                inside = inside.getParent() == null ? inside : inside.getParent();
                continue;
            }
            Path seen = root.resolve(Path.of("/").relativize(inside.resolve(next)));
            if (!Files.isSymbolicLink(seen) || links++ == MOST_LINKS) {
                inside = inside.resolve(next);
                continue;
            }
            try {
                Path target = Files.readSymbolicLink(seen);
                inside = target.isAbsolute() ? Path.of("/") : inside;
                List<Path> names = new ArrayList<>();
                target.forEach(names::add);
                Collections.reverse(names);
                names.forEach(left::addFirst);
            } catch (IOException e) {
                inside = inside.resolve(next);
            }
        }
        return root.resolve(Path.of("/").relativize(inside));
    }

    /** Returns a folder below the driver's root for files of its programs: the one that is given, if it is there. */
    Path scratchFor(Path folder) {
        return folder.startsWith(root) ? folder : root.resolve("tmp");
    }

    /** Returns the path as the driver's programs have it. */
    Path inside(Path file) {
        return root.equals(Path.of("/")) ? file : Path.of("/").resolve(root.relativize(file));
    }

    /** Returns the path as the host has it. */
    static Path onHost(Path file) {
        return file.startsWith(HOST) ? Path.of("/").resolve(HOST.relativize(file)) : file;
    }

    /** Returns the command line for these arguments. */
    List<String> command(List<String> arguments) {
        return command(program, arguments);
    }

    /** Returns the command line for the program of this name beside nvidia-smi. */
    List<String> command(String name, List<String> arguments) {
        return command(program.resolveSibling(name), arguments);
    }

    private List<String> command(Path file, List<String> arguments) {
        List<String> command = new ArrayList<>();
        if (!root.equals(Path.of("/"))) {
            command.addAll(List.of("chroot", root.toString()));
        }
        libraries.ifPresent(folder -> command.addAll(List.of("env", "LD_LIBRARY_PATH=" + folder)));
        command.add(file.toString());
        command.addAll(arguments);
        return command;
    }
}
