package dev.gpuwarden.daemon.reset;

import dev.gpuwarden.checks.child.ChildRun;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.daemon.reset.EvidenceFolder.Entry;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** The evidence of a failed reset, or of a node before its reboot, for an operator and the vendor: one archive in a folder of this node. */
public final class ResetEvidence {

    /** Largest number of lines of the kernel log. */
    public static final int MOST_LINES = 500;

    private static final System.Logger LOG = System.getLogger(ResetEvidence.class.getName());

    private static final Duration QUERY = Duration.ofSeconds(30);
    private static final List<String> WORDS = List.of("nvrm", "nvidia", "nvlink", "nvswitch", "gpu", "pcie", "aer:");

    /**
     * The result.
     *
     * @param file the archive; empty if it could not be written
     * @param text its place on the node, or the cause of a failure
     */
    public record Kept(Optional<Path> file, String text) {}

    private final EvidenceFolder folder;
    private final Path place;
    private final Optional<DriverRoot> driver;
    private final Duration longest;

    /**
     * @param driver empty if the driver's programs are at no usual place
     * @param longest limit for nvidia-bug-report.sh
     */
    public ResetEvidence(Path place, Optional<DriverRoot> driver, Duration longest) {
        this.folder = EvidenceFolder.of(place);
        this.place = place;
        this.driver = driver;
        this.longest = longest;
    }

    /** Returns true for a line of the kernel log that may be about a GPU. */
    public static boolean concerns(String line) {
        String lower = line.toLowerCase(Locale.ROOT);
        return WORDS.stream().anyMatch(lower::contains);
    }

    /**
     * Collects the evidence and writes it. A part that fails is named in the archive. Blocks.
     *
     * @param name of the archive; empty for one from the time
     * @param gpus empty for all GPUs
     * @param report the report of a failed reset, in JSON; empty if there was none
     * @param kernelLog reads the lines of the kernel log about GPUs
     */
    public Kept keep(
            Optional<String> name,
            List<String> gpus,
            Optional<String> report,
            Supplier<Reading<List<String>>> kernelLog,
            Instant at)
            throws InterruptedException {
        List<Entry> entries = new ArrayList<>();
        String what = report.isPresent() ? "a failed reset of " + String.join(", ", gpus) : "the GPUs of this node";
        StringBuilder readme = new StringBuilder("Evidence of " + what + " at " + at
                + ", collected by gpuwarden.\nIt names processes and serial numbers.\n\n");
        report.ifPresent(json -> add(entries, readme, "reset.json", Reading.of(json)));
        add(entries, readme, "kernel-log.txt", lines(kernelLog.get()));
        add(entries, readme, "nvidia-smi.txt", query(gpus));
        Optional<Path> scratch = Optional.empty();
        try {
            folder.prepare();
            scratch = scratch();
            Reading<Path> bug = bugReport(scratch);
            String file = bug.asOptional()
                    .map(log -> String.valueOf(log.getFileName()))
                    .orElse(BugReport.PROGRAM);
            readme.append(line(file, bug));
            bug.asOptional().ifPresent(log -> entries.add(new Entry(file, () -> Files.newInputStream(log))));
            entries.add(0, text("README.txt", readme.toString()));
            Path archive = folder.write(report.isPresent() ? "gpu-reset-" : "bundle-", name, at, entries);
            return new Kept(Optional.of(archive), "evidence in " + DriverRoot.onHost(archive));
        } catch (IOException e) {
            return new Kept(
                    Optional.empty(), "no evidence was kept in " + DriverRoot.onHost(place) + ": " + e.getMessage());
        } finally {
            scratch.ifPresent(ResetEvidence::remove);
        }
    }

    private Reading<Path> bugReport(Optional<Path> scratch) throws InterruptedException {
        if (driver.isEmpty()) {
            return noDriver();
        }
        return scratch.isPresent()
                ? new BugReport(driver.get(), longest).run(scratch.get())
                : Reading.absent(
                        Absence.FAILED,
                        0,
                        "no file can be written in " + driver.get().scratchFor(place));
    }

    private static <T> Reading<T> noDriver() {
        return Reading.absent(Absence.NO_DATA, 0, "nvidia-smi is at no usual place of the driver");
    }

    private Optional<Path> scratch() {
        if (driver.isEmpty()) {
            return Optional.empty();
        }
        try {
            return Optional.of(Files.createTempDirectory(driver.get().scratchFor(place), "gpuwarden-bug-report-"));
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    private static void add(List<Entry> entries, StringBuilder readme, String name, Reading<String> content) {
        readme.append(line(name, content));
        content.asOptional().ifPresent(text -> entries.add(text(name, text)));
    }

    private static String line(String name, Reading<?> content) {
        return content instanceof Reading.Absent<?> absent
                ? name + ": missing: " + absent.detail() + "\n"
                : name + "\n";
    }

    private static Entry text(String name, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        return new Entry(name, () -> new ByteArrayInputStream(bytes));
    }

    private static Reading<String> lines(Reading<List<String>> lines) {
        return lines instanceof Reading.Absent<List<String>> absent
                ? Reading.absent(absent.cause(), absent.code(), absent.detail())
                : Reading.of(String.join("\n", lines.asOptional().orElseThrow()) + "\n");
    }

    private Reading<String> query(List<String> gpus) throws InterruptedException {
        if (driver.isEmpty()) {
            return noDriver();
        }
        List<String> words = gpus.isEmpty() ? List.of("-q") : List.of("-q", "-i", String.join(",", gpus));
        ChildRun run = driver.get().run(driver.get().name(), words, QUERY, ChildRun.Stop.KILL);
        if (run.end() instanceof ChildRun.End.Exited exited) {
            return Reading.of("exit code " + exited.code() + "\n" + run.out() + run.err());
        }
        return Reading.absent(
                Absence.FAILED,
                0,
                run.end() instanceof ChildRun.End.CutOff cut
                        ? "nvidia-smi -q " + cut.why()
                        : "nvidia-smi did not start: " + ((ChildRun.End.NotStarted) run.end()).why());
    }

    private static void remove(Path scratch) {
        try (Stream<Path> all = Files.list(scratch)) {
            for (Path file : all.toList()) {
                Files.delete(file);
            }
            Files.delete(scratch);
        } catch (IOException e) {
            LOG.log(System.Logger.Level.WARNING, scratch + " cannot be removed: " + e.getMessage());
        }
    }
}
