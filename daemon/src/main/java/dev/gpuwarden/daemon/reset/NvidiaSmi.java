package dev.gpuwarden.daemon.reset;

import dev.gpuwarden.checks.child.ChildRun;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.util.Text;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Runs nvidia-smi. Each call blocks, and ends the program when its time is over. */
public record NvidiaSmi(DriverRoot driver, Duration longestReset) {

    private static final Duration MODE = Duration.ofSeconds(60);
    private static final int LONGEST = 400;
    private static final String WAS_ON = "Disabled persistence mode";

    /** The line for each GPU that was reset (nvidia-smi 580.159.04 on an H100). */
    private static final Pattern RESET = Pattern.compile("GPU ([0-9A-Fa-f:.]+) was successfully reset");

    /**
     * Exit codes about a GPU: no external power, an interrupt that is lost, a corrupted InfoROM, off the bus, and other errors
     * (nvidia-smi(1), return value). The others are about arguments, rights or the installation.
     */
    private static final Set<Integer> ABOUT_GPU = Set.of(8, 10, 14, 15, 255);

    /** The texts about another client of a GPU (nvidia-smi 535.309, 580.159.04). */
    private static final List<String> IN_USE =
            List.of("In use by another client", "being used by one or more other processes");

    /** Texts of other errors that are refusals before a reset (nvidia-smi 535.309, 580.159.04). */
    private static final List<String> REFUSALS =
            List.of("do not meet the reset criterion", "Insufficient Permissions", "Not Supported");

    private static final String UNSTABLE = "did not complete reset successfully";

    /**
     * @param failure empty after success
     * @param ended true if it ended by itself
     * @param judged whether a failure is about the GPU: the program ran, and was not refused before it began
     * @param reset the GPUs that it reports as reset
     */
    record Result(Optional<String> failure, String text, boolean ended, boolean judged, Set<PciAddress> reset) {

        private static Result of(ChildRun run) {
            String text = oneLine(run.out() + " " + run.err());
            if (run.end() instanceof ChildRun.End.Exited exited) {
                int code = exited.code();
                Optional<String> failure = code == 0
                        ? Optional.empty()
                        : Optional.of("nvidia-smi ended with code " + code + (text.isEmpty() ? "" : ": " + text));
                return new Result(failure, text, true, judged(code, run.out() + run.err()), reset(run.out()));
            }
            String why = run.end() instanceof ChildRun.End.CutOff cut
                    ? cut.why()
                    : "did not start: " + ((ChildRun.End.NotStarted) run.end()).why();
            return new Result(
                    Optional.of("nvidia-smi " + why), text, false, why.startsWith(ChildRun.LATE), reset(run.out()));
        }

        /**
         * Returns why a reset that ended with success is not proven; empty if it is.
         *
         * @param gpus addresses of the GPUs to reset
         * @param count the number of these GPUs, some of which may have no known address
         */
        Optional<String> unproven(Set<PciAddress> gpus, int count) {
            return reset.containsAll(gpus) && reset.size() >= count
                    ? Optional.empty()
                    : Optional.of("no proof of a reset: expected nvidia-smi to report '... was successfully reset' for "
                            + gpus + ", seen exit code 0 and '" + text + "'");
        }

        /** Returns the failure; after a refusal for another client with what holds the GPU now, because nvidia-smi names none. */
        Optional<String> refusal(ResettableNode node) {
            return failure.map(why -> IN_USE.stream().anyMatch(text::contains)
                    ? KernelClients.found(node.holders(true), node.kernelClients()) + why
                    : why);
        }

        private static boolean judged(int code, String output) {
            return ABOUT_GPU.contains(code)
                    && (output.contains(UNSTABLE)
                            || Stream.of(IN_USE, REFUSALS).flatMap(List::stream).noneMatch(output::contains));
        }

        private static Set<PciAddress> reset(String output) {
            Set<PciAddress> gpus = new HashSet<>();
            Matcher line = RESET.matcher(output);
            while (line.find()) {
                PciAddress.parse(line.group(1)).ifPresent(gpus::add);
            }
            return gpus;
        }
    }

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
        return Result.of(driver.run(driver.name(), arguments, longest, ChildRun.Stop.after(Duration.ZERO)));
    }

    private static String oneLine(String output) {
        return Text.truncate(output.strip().replaceAll("\\s+", " "), LONGEST);
    }
}
