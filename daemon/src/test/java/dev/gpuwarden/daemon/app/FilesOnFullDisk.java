package dev.gpuwarden.daemon.app;

import static dev.gpuwarden.daemon.app.FullDisk.check;

import dev.gpuwarden.cli.file.AtomicFile;
import dev.gpuwarden.cli.file.RotatingLog;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The two kinds of files that all other writers use, on a disk that is full from each byte on: a log that is rotated, as the aggregator's audit
 * log is, and a file that is replaced as a whole, as the state of checks and resets is.
 */
final class FilesOnFullDisk {

    private static final int MOST_BYTES = 300;
    private static final int OLDER = 2;

    private FilesOnFullDisk() {}

    public static void main(String... args) throws IOException {
        int cases = 0;
        try (FullDisk disk = FullDisk.of(args)) {
            for (int cut = 0; cut < 2 * MOST_BYTES; cut += FullDisk.STEP) {
                for (int before = 0; before < 12; before++) {
                    disk.empty();
                    log(disk, cut, before);
                    cases++;
                }
                disk.empty();
                replaced(disk, cut);
                cases++;
            }
        }
        System.out.println(cases + " cuts");
    }

    private static String line(int number) {
        return "record " + number + " " + "-".repeat(50 + number);
    }

    private static void log(FullDisk disk, int cut, int before) throws IOException {
        Path file = disk.folder.resolve("audit.jsonl");
        RotatingLog log = new RotatingLog(file, MOST_BYTES, OLDER);
        log.create();
        List<String> written = new ArrayList<>();
        for (int number = 0; number < before + 4; number++) {
            if (number == before) {
                disk.full(cut);
            }
            append(log, number, written);
        }
        disk.free();
        append(log, before + 4, written);
        List<String> lines = new ArrayList<>();
        for (Path each : List.of(RotatingLog.older(file, 2), RotatingLog.older(file, 1), file)) {
            if (Files.exists(each)) {
                lines.addAll(Files.readAllLines(each));
            }
        }
        // The oldest lines may have been in a file that a rotation has removed.
        List<String> newest = written.subList(Math.max(0, written.size() - lines.size()), written.size());
        check(lines.equals(newest), "cut at byte " + cut + " after " + before + " lines: " + lines);
        check(lines.size() >= Math.min(written.size(), 4), "cut at byte " + cut + ": too few lines: " + lines);
    }

    private static void append(RotatingLog log, int number, List<String> written) throws IOException {
        try {
            log.append((line(number) + "\n").getBytes(StandardCharsets.UTF_8));
            written.add(line(number));
        } catch (IOException e) {
            // Nothing is decided without its record.
        }
    }

    private static void replaced(FullDisk disk, int cut) throws IOException {
        Path file = disk.folder.resolve("state");
        String old = "old ".repeat(40);
        String next = "new ".repeat(60);
        AtomicFile.replace(file, old);
        disk.full(cut);
        try {
            AtomicFile.replace(file, next);
            check(Files.readString(file).equals(next), "cut at byte " + cut + ": the new content");
        } catch (IOException e) {
            check(Files.readString(file).equals(old), "cut at byte " + cut + ": the old content");
        }
        disk.free();
        AtomicFile.replace(file, next);
        check(Files.readString(file).equals(next), "cut at byte " + cut + ": the next content");
    }
}
