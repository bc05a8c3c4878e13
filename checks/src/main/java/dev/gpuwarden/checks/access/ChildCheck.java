package dev.gpuwarden.checks.access;

import dev.gpuwarden.checks.child.ChildRun;
import dev.gpuwarden.checks.child.ProgramRunner;
import dev.gpuwarden.cli.run.SameProgram;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * A run of one check by a child process of the same program, on some GPUs. When memory runs out, the kernel ends the child
 * before the daemon. The child ends with the daemon, however the daemon ends.
 *
 * @param settings options of the daemon that the child gets too, for each child: most daemons start none
 */
public record ChildCheck(Supplier<List<String>> settings, ProgramRunner programs) {

    /** The exit codes of a shell for a program that SIGILL, SIGABRT, SIGBUS, SIGFPE or SIGSEGV ended. */
    private static final List<Integer> CRASHES = List.of(132, 134, 135, 136, 139);

    /** Folders for temporary files. In a container without a writable file system, the second one is memory. */
    private static final List<Path> FOLDERS =
            List.of(Path.of(System.getProperty("java.io.tmpdir")), Path.of("/dev/shm"));

    /** Descriptor 3 takes the standard output for the reports: libraries and the JVM print to 1, also in the middle of a line. */
    private static final String SACRIFICE = "echo 1000 >/proc/self/oom_score_adj; exec 3>&1 >&2; exec \"$@\"";

    /** The file that a child writes its reports to. */
    public static final Path REPORTS = Path.of("/proc/self/fd/3");

    /** Findings of 64 GPUs, three times over, and their notes. */
    private static final int MOST_OUTPUT = 1 << 20;

    /** The option of `gpuwarden check` with the file of the daemon's {@link KeptState}. */
    public static final String OPTION = "--for-daemon";

    public ChildCheck(Supplier<List<String>> settings) {
        this(settings, ProgramRunner.PROCESSES);
    }

    /**
     * The end of a run.
     *
     * @param steps what the child reported, in order, also if it has no result
     * @param result the findings of all GPUs of the node; absent with the cause, and with the exit code of a crash
     */
    record Answer(List<ChildStep> steps, Reading<List<Finding>> result) {

        private static Answer none(String why) {
            return new Answer(List.of(), Reading.absent(Absence.FAILED, 0, why));
        }
    }

    /** Runs the check, and ends the child with all of its processes at the deadline or when stopped. Blocks. */
    Answer run(String check, List<String> gpuUuids, KeptState kept, Duration deadline, BooleanSupplier stopped)
            throws InterruptedException {
        Path state;
        try {
            state = write(FOLDERS, kept.json());
        } catch (IOException e) {
            return Answer.none("what the check keeps could not be written for a child: " + e.getMessage());
        }
        try {
            // A crash of Java writes its report into the working folder.
            return answer(check, start(check, gpuUuids, FOLDERS.get(0), state, deadline, stopped));
        } finally {
            delete(state);
        }
    }

    /**
     * Writes a file for this user alone, under a new name.
     *
     * @param folders the first that can be written to is taken
     * @throws IOException if none can; the message has each with its reason
     */
    static Path write(List<Path> folders, String text) throws IOException {
        List<String> refused = new ArrayList<>();
        for (Path folder : folders) {
            Path file = null;
            try {
                file = Files.createTempFile(folder, "gpuwarden-check-", ".json");
                return Files.writeString(file, text);
            } catch (IOException e) {
                refused.add(folder + ": " + e);
                if (file != null) {
                    delete(file);
                }
            }
        }
        throw new IOException(String.join("; ", refused));
    }

    private ChildRun start(
            String check, List<String> gpuUuids, Path folder, Path state, Duration deadline, BooleanSupplier stopped)
            throws InterruptedException {
        List<String> command = new ArrayList<>(List.of("/bin/sh", "-c", SACRIFICE, "gpuwarden-check"));
        command.addAll(SameProgram.command());
        command.addAll(List.of("check", check, "--local", OPTION + "=" + state));
        command.addAll(settings.get());
        Map<String, String> environment = new HashMap<>(System.getenv());
        environment.put("CUDA_VISIBLE_DEVICES", String.join(",", gpuUuids));
        return programs.run(command, folder, environment, deadline, ChildRun.Stop.KILL.with(MOST_OUTPUT, stopped));
    }

    private static void delete(Path state) {
        try {
            Files.deleteIfExists(state);
        } catch (IOException e) {
            // Some kilobytes are left in the folder for temporary files.
        }
    }

    private static Answer answer(String check, ChildRun run) {
        List<ChildStep> steps = new ArrayList<>();
        // The last line of a child that was killed may be cut off.
        String whole = run.out().substring(0, run.out().lastIndexOf('\n') + 1);
        String wrong = "";
        for (String line : whole.lines().toList()) {
            try {
                if (!steps.isEmpty() && steps.get(steps.size() - 1).last()) {
                    throw new IOException("a line behind the last one");
                }
                steps.add(ChildStep.parse(check, line));
            } catch (IOException e) {
                wrong = ": " + e.getMessage();
                break;
            }
        }
        return new Answer(List.copyOf(steps), result(steps, run.end(), wrong));
    }

    private static Reading<List<Finding>> result(List<ChildStep> steps, ChildRun.End end, String wrong) {
        if (end instanceof ChildRun.End.Exited exited) {
            if (CRASHES.contains(exited.code())) {
                return Reading.absent(Absence.FAILED, exited.code(), "the child crashed");
            }
            if (wrong.isEmpty()
                    && !steps.isEmpty()
                    && steps.get(steps.size() - 1).last()) {
                return Reading.of(steps.get(steps.size() - 1).findings());
            }
            return Reading.absent(
                    Absence.FAILED, 0, "the child ended with code " + exited.code() + " without a result" + wrong);
        }
        String why = end instanceof ChildRun.End.CutOff cut
                ? "it " + cut.why()
                : end instanceof ChildRun.End.NotStarted not ? not.why() : "";
        return Reading.absent(Absence.FAILED, 0, "the child gave no result: " + why);
    }
}
