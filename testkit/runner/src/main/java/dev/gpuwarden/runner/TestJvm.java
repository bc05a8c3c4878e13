package dev.gpuwarden.runner;

import dev.gpuwarden.runner.compile.TestModule;
import dev.gpuwarden.runner.compile.Workspace;
import dev.gpuwarden.runner.jvm.Line;
import dev.gpuwarden.runner.jvm.Selection;
import dev.gpuwarden.runner.jvm.TestMain;
import dev.gpuwarden.runner.jvm.Tier;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/**
 * Runs jobs as child processes; each call blocks until its process has ended. Thread-safe.
 *
 * @param image the runtime image if it has what the tests test: they start it instead of classes, and it starts in half the time
 */
public record TestJvm(Workspace workspace, Optional<Path> image) {

    /** Limit of a job; the longest takes ten minutes, and 20 on a machine half as fast. Soak runs have no limit. */
    private static final long LIMIT_MINUTES = 40;

    /** GOGC of programs in Go: at 100, the default, an API server uses a fifth more processor time. */
    private static final String GARBAGE_PERCENT = "400";

    private static final int TAIL_LINES = 40;

    /** Runs the tests of a module. */
    public Outcome tests(Job job, Selection selection) throws IOException, InterruptedException {
        TestModule module = workspace.module(job.module()).orElseThrow();
        String name = fileName(job, selection.names());
        Path results = workspace.results().resolve(name + ".tsv");
        Files.createDirectories(results.getParent());
        Files.deleteIfExists(results);
        try (Scratch scratch = Scratch.forTier(job.tier())) {
            List<String> command = new ArrayList<>(List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "-XX:TieredStopAtLevel=1",
                    "-XX:+UseSerialGC",
                    "-Xmx512m",
                    "-cp",
                    classPath(module)));
            workspace.properties(module).forEach((key, value) -> command.add("-D" + key + "=" + value));
            image.ifPresent(folder -> command.add("-Dgpuwarden.image=" + folder));
            scratch.folder().ifPresent(folder -> command.add("-Djava.io.tmpdir=" + folder));
            command.add(TestMain.class.getName());
            command.add(results.toString());
            command.add(module.testClasses().toString());
            command.addAll(selection.arguments());
            Outcome outcome = run(job, command, module.folder(), results, name);
            return outcome.count(Line.Kind.END) == 1
                    ? outcome
                    : outcome.failedToo(job.title(), "the test JVM ended before its tests did; see " + outcome.log());
        }
    }

    /** Returns a name of one class's length: the selected classes have files of their own beside those of the whole job. */
    private static String fileName(Job job, List<String> names) {
        return switch (names.size()) {
            case 0 -> job.name();
            case 1 -> job.name() + "-" + names.get(0);
            default -> job.name() + "-" + names.get(0) + "-and-" + (names.size() - 1) + "-more";
        };
    }

    private String classPath(TestModule module) {
        String own = System.getProperty("java.class.path");
        return workspace.classPath(module).stream().map(Path::toString).collect(Collectors.joining(File.pathSeparator))
                + File.pathSeparator
                + own;
    }

    /** Runs a command, which passes with exit code 0 and is skipped with 3. */
    public Outcome command(Job job) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(job.command());
        command.set(0, workspace.root().resolve(command.get(0)).toString());
        return run(job, command, workspace.root(), workspace.results().resolve("none"), job.name());
    }

    private Outcome run(Job job, List<String> command, Path folder, Path results, String name)
            throws IOException, InterruptedException {
        Path log = workspace.results().resolve(name + ".log");
        Files.createDirectories(log.getParent());
        ProcessBuilder builder = new ProcessBuilder(command)
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .redirectInput(new File("/dev/null"))
                .redirectOutput(log.toFile());
        builder.environment().putIfAbsent("GOGC", GARBAGE_PERCENT);
        long start = System.nanoTime();
        Process process = builder.start();
        boolean ended = true;
        try {
            if (job.tier() == Tier.SOAK) {
                process.waitFor();
            } else {
                ended = process.waitFor(LIMIT_MINUTES, TimeUnit.MINUTES);
            }
        } finally {
            process.destroyForcibly();
        }
        long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
        List<Line> lines = new ArrayList<>(
                Files.exists(results)
                        ? Files.readAllLines(results).stream().map(Line::parse).toList()
                        : List.of());
        if (!ended) {
            lines.add(new Line(
                    Line.Kind.FAILED, job.title(), "", millis, "did not end within " + LIMIT_MINUTES + " minutes"));
        } else if (!job.ofTests()) {
            lines.add(ended(job, process.waitFor(), millis, log));
        }
        return new Outcome(job, lines, millis, log);
    }

    /** Returns the result of an exit code: 0 passed, 3 skipped, any other failed. */
    private static Line ended(Job job, int code, long millis, Path log) throws IOException {
        return switch (code) {
            case 0 -> new Line(Line.Kind.PASSED, job.title(), "", millis, "");
            case 3 -> new Line(Line.Kind.SKIPPED, job.title(), "", millis, tail(log));
            default ->
                new Line(
                        Line.Kind.FAILED,
                        job.title(),
                        "",
                        millis,
                        "exit code " + code + "; the end of " + log + ":\n" + tail(log));
        };
    }

    private static String tail(Path log) throws IOException {
        List<String> lines = new String(Files.readAllBytes(log), StandardCharsets.UTF_8)
                .lines()
                .toList();
        return String.join("\n", lines.subList(Math.max(0, lines.size() - TAIL_LINES), lines.size()));
    }

    /**
     * The temporary folder of unit tests: in memory where there is room, since they write many small files. Other tests start programs,
     * which find each other in the system's own temporary folder.
     */
    record Scratch(Optional<Path> folder) implements AutoCloseable {

        /** Prefix of the folder; the pid of the runner follows. */
        private static final String PREFIX = "gpuwarden-test-";

        private static final Pattern OWNER = Pattern.compile(PREFIX + "(\\d{1,9})-.*");

        private static final AtomicInteger NUMBER = new AtomicInteger();

        private static final Path MEMORY = Path.of("/dev/shm");
        /** The unit tests of the daemon keep about 300 MB. */
        private static final long ROOM_BYTES = 2L << 30;

        static Scratch forTier(Tier tier) throws IOException {
            boolean room = tier == Tier.UNIT
                    && Files.isWritable(MEMORY)
                    && Files.getFileStore(MEMORY).getUsableSpace() >= ROOM_BYTES;
            if (!room) {
                return new Scratch(Optional.empty());
            }
            removeLeftovers();
            String name = PREFIX + ProcessHandle.current().pid() + "-" + NUMBER.incrementAndGet();
            return new Scratch(Optional.of(Files.createDirectory(MEMORY.resolve(name))));
        }

        /** Deletes the folders of runners that were killed. */
        private static void removeLeftovers() throws IOException {
            List<Path> found;
            try (DirectoryStream<Path> all = Files.newDirectoryStream(MEMORY, PREFIX + "*")) {
                found = StreamSupport.stream(all.spliterator(), false).toList();
            }
            for (Path folder : found) {
                Matcher owner = OWNER.matcher(folder.getFileName().toString());
                if (owner.matches()
                        && ProcessHandle.of(Long.parseLong(owner.group(1))).isEmpty()) {
                    delete(folder);
                }
            }
        }

        @Override
        public void close() throws IOException {
            if (folder.isPresent()) {
                delete(folder.get());
            }
        }

        private static void delete(Path folder) throws IOException {
            List<Path> all;
            try (Stream<Path> files = Files.walk(folder)) {
                all = files.sorted(Comparator.reverseOrder()).toList();
            }
            for (Path path : all) {
                Files.deleteIfExists(path);
            }
        }
    }
}
