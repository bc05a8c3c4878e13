package dev.gpuwarden.daemon.metrics;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Function;

/** A reader of this process's resource usage from its own /proc; the node's may be another one. */
public final class ProcessStatsReader {

    private static final int MAX_BYTES = 256 * 1024;
    private static final double TICKS_PER_SECOND = 100; // USER_HZ, proc(5)

    private final Path proc;
    private final Reading<Long> maxFiles;
    private final Reading<Double> startTimeSeconds;

    public ProcessStatsReader() {
        this(Path.of("/proc"));
    }

    ProcessStatsReader(Path proc) {
        this.proc = proc;
        this.maxFiles = read("self/limits", text -> Long.parseLong(after(text, "Max open files")));
        Reading<Long> bootSeconds = read("stat", text -> Long.parseLong(after(text, "btime")));
        this.startTimeSeconds = read("self/stat", text -> Long.parseLong(field(text, 22)) / TICKS_PER_SECOND)
                        instanceof Reading.Present<Double> start
                ? bootSeconds.map(boot -> boot + start.value())
                : Reading.absent(Absence.FAILED, 0, "/proc/self/stat");
    }

    public Stats read(long scrapes, Reading<Double> lastScrapeSeconds) {
        Reading<String> stat = read("self/stat", text -> text);
        Runtime heap = Runtime.getRuntime();
        return new Stats(
                parse(stat, s -> (Long.parseLong(field(s, 14)) + Long.parseLong(field(s, 15))) / TICKS_PER_SECOND),
                startTimeSeconds,
                read("self/status", text -> 1024 * Long.parseLong(after(text, "VmRSS:"))),
                parse(stat, s -> Long.parseLong(field(s, 23))),
                parse(stat, s -> Long.parseLong(field(s, 20))),
                openFiles(),
                maxFiles,
                heap.totalMemory() - heap.freeMemory(),
                heap.totalMemory(),
                heap.maxMemory(),
                scrapes,
                lastScrapeSeconds);
    }

    private Reading<Long> openFiles() {
        long files = -1; // the listing itself holds one
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(proc.resolve("self/fd"))) {
            for (Path ignored : entries) {
                files++;
            }
            return Reading.of(files);
        } catch (IOException | DirectoryIteratorException e) {
            return Reading.absent(Absence.FAILED, 0, "/proc/self/fd");
        }
    }

    private <T> Reading<T> read(String file, Function<String, T> parser) {
        try (InputStream in = Files.newInputStream(proc.resolve(file))) {
            return parse(Reading.of(new String(in.readNBytes(MAX_BYTES), StandardCharsets.UTF_8)), parser);
        } catch (IOException e) {
            return Reading.absent(Absence.FAILED, 0, "/proc/" + file);
        }
    }

    private static <T> Reading<T> parse(Reading<String> text, Function<String, T> parser) {
        try {
            return text.map(parser);
        } catch (NumberFormatException | IndexOutOfBoundsException e) {
            return Reading.absent(Absence.IMPLAUSIBLE, 0, "/proc/self");
        }
    }

    /**
     * Returns a field of a stat line by its number in proc(5). The second field is the name in parentheses, with any
     * content.
     */
    private static String field(String stat, int number) {
        return stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1)[number - 3];
    }

    private static String after(String text, String key) {
        int at = text.indexOf(key);
        if (at < 0) {
            throw new IndexOutOfBoundsException(key);
        }
        return text.substring(at + key.length()).trim().split("\\s", 2)[0];
    }

    /**
     * This process's own resource usage.
     *
     * @param scrapes expositions made before this one
     * @param lastScrapeSeconds duration of the previous exposition
     */
    public record Stats(
            Reading<Double> cpuSeconds,
            Reading<Double> startTimeSeconds,
            Reading<Long> residentBytes,
            Reading<Long> virtualBytes,
            Reading<Long> threads,
            Reading<Long> openFiles,
            Reading<Long> maxFiles,
            long heapUsedBytes,
            long heapCommittedBytes,
            long heapMaxBytes,
            long scrapes,
            Reading<Double> lastScrapeSeconds) {}
}
