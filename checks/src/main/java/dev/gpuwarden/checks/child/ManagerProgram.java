package dev.gpuwarden.checks.child;

import dev.gpuwarden.core.util.Text;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A program of the manager of units or jobs: systemd's or Slurm's. It has the daemon's PATH and SLURM_CONF, because Slurm is
 * often installed outside the usual folders.
 *
 * @param words the program and its arguments
 * @param run its end and its output
 */
public record ManagerProgram(List<String> words, ChildRun run) {

    private static final String USUAL_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    /** A program that cannot be run, and one that is not found, to a shell (POSIX, Shell Command Language, 2.8.2). */
    private static final Set<Integer> NOT_RUN = Set.of(126, 127);

    private static final int LONGEST_ERROR = 300;

    /** Runs it in this thread, for this time at most. @throws InterruptedException if this thread is interrupted */
    public static ManagerProgram run(List<String> words, Duration timeout) throws InterruptedException {
        return run(ProgramRunner.PROCESSES, words, timeout, Map.of());
    }

    /** Runs it with these variables too. @throws InterruptedException if this thread is interrupted */
    public static ManagerProgram run(
            ProgramRunner programs, List<String> words, Duration timeout, Map<String, String> variables)
            throws InterruptedException {
        Map<String, String> environment = environment(System.getenv());
        environment.putAll(variables);
        ChildRun run = programs.run(words, Path.of("/"), environment, timeout, ChildRun.Stop.KILL);
        return new ManagerProgram(words, run);
    }

    static Map<String, String> environment(Map<String, String> own) {
        Map<String, String> environment = new HashMap<>();
        environment.put("PATH", own.getOrDefault("PATH", USUAL_PATH));
        environment.put("LC_ALL", "C");
        if (own.containsKey("SLURM_CONF")) {
            environment.put("SLURM_CONF", own.get("SLURM_CONF"));
        }
        return environment;
    }

    /** Returns false if the program did not start: it is missing, or another user can change it, or no shell could run it. */
    public boolean ran() {
        return !(run.end() instanceof ChildRun.End.NotStarted)
                && !(run.end() instanceof ChildRun.End.Exited exited && NOT_RUN.contains(exited.code()));
    }

    public boolean succeeded() {
        return run.end() instanceof ChildRun.End.Exited exited && exited.code() == 0;
    }

    /** Returns its command line and its end, for users. */
    public String text() {
        String command = String.join(" ", words);
        if (run.end() instanceof ChildRun.End.Exited exited) {
            String error = firstPart(run.err());
            return command + " ended with code " + exited.code() + (error.isEmpty() ? "" : ": " + error);
        }
        String why = run.end() instanceof ChildRun.End.CutOff cut
                ? "it " + cut.why()
                : ((ChildRun.End.NotStarted) run.end()).why();
        return command + ": " + why;
    }

    private static String firstPart(String text) {
        String line = text.strip().replaceAll("\\p{Cntrl}+", " ");
        return Text.head(line, LONGEST_ERROR);
    }
}
