package dev.gpuwarden.daemon.vram.trace;

import static dev.gpuwarden.daemon.app.FullDisk.check;

import dev.gpuwarden.cli.file.RotatingLog;
import dev.gpuwarden.daemon.app.FullDisk;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Writes decisions on a disk that is full from each byte on, while the file is full too and another one begins. Ends with an error if the last
 * decision of a GPU is lost.
 */
final class DecisionFileOnFullDisk {

    /** Some lines more than the last decisions of three GPUs. */
    private static final int MOST_BYTES = 500;

    private static final List<String> GPUS = List.of("a", "b", "c");

    private DecisionFileOnFullDisk() {}

    public static void main(String... args) throws IOException {
        int cases = 0;
        try (FullDisk disk = FullDisk.of(args)) {
            Path file = disk.folder.resolve("vram.jsonl");
            for (int cut = 0; cut < 2 * MOST_BYTES; cut += FullDisk.STEP) {
                for (int before = 0; before < 12; before++) {
                    disk.empty();
                    run(disk, file, cut, before);
                    cases++;
                }
            }
        }
        System.out.println(cases + " cuts");
    }

    private static String line(String gpu, int number) {
        return gpu + " " + number + " " + "-".repeat(50 + number) + "\n";
    }

    private static void run(FullDisk disk, Path file, int cut, int before) throws IOException {
        Map<String, String> last = new HashMap<>();
        int number = 0;
        try (DecisionFile decisions = new DecisionFile(file, MOST_BYTES)) {
            while (number < before) {
                write(decisions, number++, last);
            }
            disk.full(cut);
            for (int i = 0; i < 4; i++) {
                try {
                    write(decisions, number++, last);
                } catch (IOException e) {
                    // It is counted as lost.
                }
            }
        }
        List<String> lines = new ArrayList<>();
        for (Path each : List.of(RotatingLog.older(file, 1), file)) {
            if (Files.exists(each)) {
                lines.addAll(Files.readAllLines(each));
            }
        }
        String name = "cut at byte " + cut + " after " + before + " lines";
        lines.forEach(line -> check(line.matches("[abc] \\d+ -+"), name + ": " + line));
        last.forEach((gpu, line) -> {
            String newest = lines.stream().filter(each -> each.startsWith(gpu)).reduce("", (first, second) -> second);
            check((newest + "\n").equals(line), name + ": expected " + line + ", seen " + newest);
        });
        disk.free();
        try (DecisionFile decisions = new DecisionFile(file, MOST_BYTES)) {
            write(decisions, number, last);
        }
        check(
                Files.readString(file).endsWith("\n" + line(GPUS.get(number % 3), number))
                        || Files.readString(file).equals(line(GPUS.get(number % 3), number)),
                name + ": the next line");
    }

    private static void write(DecisionFile decisions, int number, Map<String, String> last) throws IOException {
        String gpu = GPUS.get(number % 3);
        decisions.write(line(gpu, number).getBytes(StandardCharsets.UTF_8), gpu);
        last.put(gpu, line(gpu, number));
    }
}
