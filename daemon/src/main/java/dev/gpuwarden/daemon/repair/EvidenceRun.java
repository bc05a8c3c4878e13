package dev.gpuwarden.daemon.repair;

import dev.gpuwarden.checks.child.ChildRun;
import dev.gpuwarden.checks.child.ProgramRunner;
import dev.gpuwarden.cli.Durations;
import dev.gpuwarden.cli.run.SameProgram;
import dev.gpuwarden.core.util.Text;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;

/**
 * The run of {@code gpuwarden bundle} before a reboot, which may leave no server to ask. A failure is a text, since it must not stop
 * the reboot.
 *
 * @param process the process that collects
 * @param settings options of the daemon that the command gets too
 * @param folder for the archives, which the command bounds in number and size
 * @param longest limit of the run
 */
record EvidenceRun(
        RepairProcess process, Supplier<List<String>> settings, Path folder, Duration longest, ProgramRunner programs) {

    /** The name of the unit. */
    static final String UNIT = "gpuwarden-bundle";

    /** The limit that the Job of a reboot has in a cluster. */
    static final Duration LONGEST = Duration.ofSeconds(150);

    /** Leaves time for the kernel log and {@code nvidia-smi -q}. */
    private static final Duration BUG_REPORT = Duration.ofSeconds(60);

    private static final int LONGEST_TEXT = 400;

    /** @param text place of the archive, or the cause of its absence */
    record Evidence(boolean kept, String text) {}

    /** Collects the evidence. Blocks up to the limit. */
    Evidence keep(RepairAttempt attempt) throws InterruptedException {
        ChildRun run = programs.run(
                command(attempt.id(), System.getenv()), Path.of("/"), System.getenv(), longest, ChildRun.Stop.KILL);
        if (run.end() instanceof ChildRun.End.Exited exited) {
            return evidence(exited.code(), run.out(), run.err());
        }
        String why = run.end() instanceof ChildRun.End.CutOff cut
                ? "it " + cut.why()
                : "it did not start: " + ((ChildRun.End.NotStarted) run.end()).why();
        return absent(why);
    }

    static Evidence evidence(int code, String out, String err) {
        String text = line(out);
        if (code == 0) {
            return new Evidence(true, text);
        }
        return text.isEmpty() ? absent("it ended with code " + code + ": " + line(err)) : new Evidence(false, text);
    }

    List<String> command(String attempt, Map<String, String> environment) {
        List<String> words = new ArrayList<>(SameProgram.command());
        words.addAll(List.of(
                "bundle",
                folder.toString(),
                "--name=" + name(attempt),
                "--reset.bundle-timeout=" + Durations.text(BUG_REPORT)));
        words.addAll(settings.get());
        return process.command(UNIT, List.of("RuntimeMaxSec=" + longest.toSeconds()), words, environment);
    }

    private static String name(String attempt) {
        return "reboot-" + attempt.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]", "-");
    }

    private static Evidence absent(String why) {
        return new Evidence(false, Text.truncate("no evidence was kept by gpuwarden bundle: " + why, LONGEST_TEXT));
    }

    private static String line(String text) {
        return Text.truncate(text.strip().replaceAll("\\p{Cntrl}+", " "), LONGEST_TEXT);
    }
}
