package dev.gpuwarden.daemon.kernlog;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.event.EventWriter.Position;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.FaultKey;
import dev.gpuwarden.core.kernel.KernelRecord.Writer;
import dev.gpuwarden.testkit.TestClock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.IntPredicate;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A process that is killed at any record, and its successor, store together what one process stores. */
class RestartTest {

    private record Line(Writer writer, Instant when, String text) {}

    /** The sums of all stored events, and the current faults. */
    private record Outcome(Map<String, Long> sums, Set<String> current) {}

    private static List<Line> log(Random random, int size) {
        List<Line> lines = new ArrayList<>();
        Instant when = TestClock.START;
        for (int i = 0; i < size; i++) {
            String pci = "0000:" + (0x10 + random.nextInt(3)) + ":00";
            String uuid = "GPU-00000000-0000-0000-0000-0000000000" + pci.substring(5, 7);
            when = when.plusMillis(random.nextInt(10) == 0 ? 30_000 : random.nextInt(2_000));
            Line line = switch (random.nextInt(9)) {
                case 0, 1, 2 ->
                    new Line(
                            Writer.KERNEL, when, "NVRM: Xid (PCI:" + pci + "): 95, pid=" + i + ", name=a, Uncontained");
                case 3 -> new Line(Writer.KERNEL, when, "NVRM: Xid (PCI:" + pci + "): 13, pid=1, name=a, Graphics");
                case 4 -> new Line(Writer.KERNEL, when, "NVRM: Xid (PCI:" + pci + "): 79, GPU has fallen off the bus.");
                case 5 -> new Line(Writer.KERNEL, when, "NVRM: GPU at PCI:" + pci + ": " + uuid);
                case 6 -> new Line(Writer.PRIVILEGED, when, "GPU reset occurred: " + uuid);
                case 7 -> new Line(Writer.USER, when, "NVRM: Xid (PCI:" + pci + "): 79, GPU has fallen off the bus.");
                default -> new Line(Writer.KERNEL, when, "EXT4-fs (vda): mounted filesystem");
            };
            lines.add(line);
        }
        return lines;
    }

    private static Outcome run(List<Line> lines, long seed, IntPredicate killedBehind) {
        Random whenAsked = new Random(seed);
        TestClock time = new TestClock();
        RecordingIntake store = new RecordingIntake(time);
        ClassifierFixture process = new ClassifierFixture(Rules.NONE, time, store);
        // Records are written once, and read again by the next process if the last one did not hand them over.
        int read = 0;
        Set<Integer> killed = new TreeSet<>();
        while (read < lines.size()) {
            Line line = lines.get(read);
            if (line.when.isAfter(time.instant())) {
                process.after(Duration.between(time.instant(), line.when));
            }
            process.record(line.writer, line.when, line.text);
            if (whenAsked.nextInt(3) == 0) {
                process.flushIfDue();
            }
            read++;
            if (killedBehind.test(read) && killed.add(read)) {
                read = store.position(EventBatcher.POSITION)
                        .map(Position::cursor)
                        .map(cursor -> Integer.parseInt(cursor.substring(5)) + 1)
                        .orElse(0);
                process = new ClassifierFixture(Rules.NONE, time, store);
                process.resumeAt(read);
            }
        }
        process.flush();
        Map<String, Long> sums = new TreeMap<>(store.occurrences());
        Set<String> current = new TreeSet<>();
        for (Fault fault : store.faults()) {
            FaultKey key = fault.key();
            current.add(key.checkName() + " " + key.errorCode() + " "
                    + key.entity().value() + " " + fault.cause().action());
        }
        return new Outcome(sums, current);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void killedProcessAndItsSuccessorStoreTheSameTogether(long seed) {
        List<Line> lines = log(new Random(seed), 120);
        Outcome alone = run(lines, seed, behind -> false);
        assertThat(alone.sums).isNotEmpty();
        for (int i = 1; i <= lines.size(); i++) {
            int at = i;
            assertThat(run(lines, seed + i, behind -> behind == at))
                    .as("seed " + seed + ", killed behind record " + at)
                    .isEqualTo(alone);
        }
        assertThat(run(lines, seed, behind -> true))
                .as("killed behind every record")
                .isEqualTo(alone);
        Random random = new Random(seed);
        assertThat(run(lines, seed, behind -> random.nextInt(5) == 0)).isEqualTo(alone);
    }
}
