package dev.gpuwarden.daemon.repair;

import static dev.gpuwarden.daemon.app.FullDisk.check;

import dev.gpuwarden.cli.JsonReader;
import dev.gpuwarden.daemon.app.FullDisk;
import dev.gpuwarden.daemon.repair.RepairAttempt.Kind;
import dev.gpuwarden.daemon.repair.RepairAttempt.Outcome;
import dev.gpuwarden.daemon.repair.RepairAttempt.Step;
import dev.gpuwarden.testkit.TestClock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Writes the record of repairs on a disk that is full from each byte on, and ends with an error if it loses or invents a step. */
final class RepairLogOnFullDisk {

    /** More than the length of all lines of the repair that meets the full disk. */
    private static final int LONGEST = 1100;

    private static final String UNIT = "llama.service";

    private final FullDisk disk;
    private final Path file;
    private final TestClock clock = new TestClock();

    private RepairLogOnFullDisk(FullDisk disk) {
        this.disk = disk;
        this.file = disk.folder.resolve("repairs.jsonl");
    }

    public static void main(String... args) throws IOException {
        int cases = 0;
        try (FullDisk disk = FullDisk.of(args)) {
            for (int cut = 0; cut < LONGEST; cut += FullDisk.STEP) {
                for (boolean killed : new boolean[] {false, true}) {
                    disk.empty();
                    new RepairLogOnFullDisk(disk).run(cut, killed);
                    cases++;
                }
            }
        }
        System.out.println(cases + " cuts");
    }

    private RepairLog open() throws IOException {
        return RepairLog.open(file, clock);
    }

    private void run(int cut, boolean killed) throws IOException {
        String name = "cut at byte " + cut + (killed ? ", killed" : "");
        RepairLog log = open();
        // The disk is full when this many bytes of the next repair are written.
        long plain = firstRepair(log, "");
        Files.delete(file);
        log = open();
        firstRepair(log, "x".repeat((int) (FullDisk.PAGE - cut - plain)));
        disk.full(FullDisk.PAGE);
        Set<String> intents = secondRepair(log);
        List<RepairAttempt> known = log.attempts();
        if (killed) {
            log = open();
            for (RepairAttempt seen : log.attempts()) {
                RepairAttempt was = known.stream()
                        .filter(each -> each.id().equals(seen.id()))
                        .findFirst()
                        .orElseThrow(() -> new AssertionError(name + ": an attempt that was refused"));
                check(
                        was.steps().subList(0, seen.steps().size()).equals(seen.steps()),
                        name + ": " + seen.steps() + " of " + was.steps());
            }
            Set<String> kept = new HashSet<>();
            log.attempts().forEach(each -> each.steps().forEach(step -> kept.add(step.name())));
            check(kept.containsAll(intents), name + ": expected " + intents + ", seen " + kept);
            known = log.attempts();
        }
        disk.free();
        log.flush();
        RepairAttempt third = log.begin(Kind.RESET, Set.of("GPU-c"), "xid 48", "boot");
        log.end(third, Outcome.SUCCEEDED, "");
        List<RepairAttempt> last = open().attempts();
        check(last.equals(log.attempts()), name + ": " + last + " of " + log.attempts());
        check(last.subList(0, known.size()).equals(known), name + ": a step was lost");
        for (String line : Files.readAllLines(file)) {
            var unused = JsonReader.ofDepth(4).readObject(line);
        }
    }

    private long firstRepair(RepairLog log, String why) throws IOException {
        log.end(log.begin(Kind.RESET, Set.of("GPU-a"), why, "boot"), Outcome.SUCCEEDED, "");
        clock.advance(Duration.ofSeconds(1));
        return Files.size(file);
    }

    /** Returns the intents that the disk has taken. Each act follows its intent alone. */
    private Set<String> secondRepair(RepairLog log) {
        Set<String> taken = new HashSet<>();
        try {
            RepairAttempt attempt = log.begin(Kind.RESET, Set.of("GPU-b"), "xid 48", "boot");
            try {
                log.intend(attempt, RepairAttempt.STOP, UNIT, "requested");
                taken.add(RepairAttempt.STOP);
                log.intend(attempt, RepairAttempt.BEGIN_RESET, "", "");
                taken.add(RepairAttempt.BEGIN_RESET);
                log.record(attempt, RepairAttempt.RESET, "", true, "2 passed, \u00fc", System.nanoTime());
            } catch (IOException e) {
                log.record(attempt, RepairAttempt.INTERRUPTED, "", true, "full", System.nanoTime());
            }
            log.record(attempt, RepairAttempt.START, UNIT, true, "", System.nanoTime());
            log.end(attempt, Outcome.SUCCEEDED, "");
        } catch (IOException e) {
            // It did not begin.
        }
        clock.advance(Duration.ofSeconds(1));
        for (RepairAttempt each : log.attempts()) {
            for (Step step : each.steps()) {
                boolean intent =
                        Set.of(RepairAttempt.STOP, RepairAttempt.BEGIN_RESET).contains(step.name());
                check(!intent || taken.contains(step.name()), "an intent that was refused");
            }
        }
        return taken;
    }
}
