package dev.gpuwarden.daemon.reset;

import dev.gpuwarden.daemon.script.ChildRun;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** Runs nvidia-smi. Each call blocks, and ends the program when its time is over. */
public final class NvidiaSmi {

    private static final Duration MODE = Duration.ofSeconds(60);
    private static final int LONGEST = 400;
    private static final String WAS_ON = "Disabled persistence mode";

    private final DriverRoot driver;
    private final Duration longestReset;

    public NvidiaSmi(DriverRoot driver, Duration longestReset) {
        this.driver = driver;
        this.longestReset = longestReset;
    }

    /**
     * @param failure empty after success
     * @param ended true if it ended by itself
     */
    record Result(Optional<String> failure, String text, boolean ended) {}

    /** Turns persistence mode off. Returns in the text of the result whether it was on. */
    Result persistenceOff(String gpu) throws InterruptedException {
        return run(List.of("-i", gpu, "-pm", "0"), MODE);
    }

    static boolean wasOn(Result off) {
        return off.text().contains(WAS_ON);
    }

    Result persistenceOn(String gpu) throws InterruptedException {
        return run(List.of("-i", gpu, "-pm", "1"), MODE);
    }

    /** Resets these GPUs together. */
    Result reset(List<String> gpus) throws InterruptedException {
        if (gpus.isEmpty()) {
            throw new IllegalArgumentException("without a GPU, nvidia-smi resets all");
        }
        return run(List.of("-i", String.join(",", gpus), "--gpu-reset"), longestReset);
    }

    /** Returns the command line of the reset, for users. */
    public String resetText(List<String> gpus) {
        return String.join(" ", driver.command(List.of("-i", String.join(",", gpus), "--gpu-reset")));
    }

    private Result run(List<String> arguments, Duration longest) throws InterruptedException {
        ChildRun run = ChildRun.of(
                driver.command(arguments),
                Path.of("/"),
                System.getenv(),
                longest,
                ChildRun.Stop.withParent(Duration.ZERO));
        String text = oneLine(run.out() + " " + run.err());
        if (run.end() instanceof ChildRun.End.Exited exited) {
            return exited.code() == 0
                    ? new Result(Optional.empty(), text, true)
                    : new Result(
                            Optional.of("nvidia-smi ended with code " + exited.code()
                                    + (text.isEmpty() ? "" : ": " + text)),
                            text,
                            true);
        }
        String why = run.end() instanceof ChildRun.End.CutOff cut
                ? "nvidia-smi " + cut.why()
                : "nvidia-smi did not start: " + ((ChildRun.End.NotStarted) run.end()).why();
        return new Result(Optional.of(why), text, false);
    }

    private static String oneLine(String output) {
        String line = output.strip().replaceAll("\\s+", " ");
        return line.length() <= LONGEST ? line : line.substring(0, LONGEST) + "…";
    }
}
