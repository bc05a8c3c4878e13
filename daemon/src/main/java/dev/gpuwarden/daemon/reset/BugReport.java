package dev.gpuwarden.daemon.reset;

import dev.gpuwarden.checks.child.ChildRun;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.util.Text;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/** The run of the driver's own nvidia-bug-report.sh, in the mode that avoids calls which hang on a broken GPU. */
record BugReport(DriverRoot driver, Duration longest) {

    static final String PROGRAM = "nvidia-bug-report.sh";

    private static final long MOST_BYTES = 32L << 20;
    private static final String FILE = "nvidia-bug-report.log";

    /**
     * Runs the program. Blocks up to its limit.
     *
     * @param scratch an empty folder below the driver's root, which gets the file
     * @return the file; absent with the cause, for example if the driver has no such program
     */
    Reading<Path> run(Path scratch) throws InterruptedException {
        if (!driver.has(PROGRAM)) {
            return absent(PROGRAM + " is absent beside nvidia-smi");
        }
        Path inside = driver.inside(scratch).resolve(FILE);
        ChildRun run = driver.run(
                PROGRAM,
                List.of("--safe-mode", "--extra-system-data", "--output-file", inside.toString()),
                longest,
                ChildRun.Stop.KILL);
        if (run.end() instanceof ChildRun.End.CutOff cut) {
            return absent(PROGRAM + " " + cut.why());
        }
        if (run.end() instanceof ChildRun.End.NotStarted failed) {
            return absent(PROGRAM + " did not start: " + failed.why());
        }
        return file(scratch, run);
    }

    private static Reading<Path> file(Path scratch, ChildRun run) {
        try (Stream<Path> all = Files.list(scratch)) {
            List<Path> files = all.filter(Files::isRegularFile).toList();
            if (files.isEmpty()) {
                String text = (run.out() + " " + run.err()).strip().replaceAll("\\s+", " ");
                return absent(PROGRAM + " wrote no file: " + Text.head(text, 200));
            }
            long size = Files.size(files.get(0));
            return size > MOST_BYTES
                    ? absent(PROGRAM + " wrote " + size + " bytes, expected at most " + MOST_BYTES)
                    : Reading.of(files.get(0));
        } catch (IOException e) {
            return absent(PROGRAM + ": its file cannot be read: " + e.getMessage());
        }
    }

    private static Reading<Path> absent(String why) {
        return Reading.absent(Absence.NO_DATA, 0, why);
    }
}
