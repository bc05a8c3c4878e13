package dev.gpuwarden.daemon.kernlog;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.FaultKey;
import dev.gpuwarden.core.event.FaultTable;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.kernel.KernelRecord.Writer;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The end of a reset ends the faults that are older than it. */
class EndedFaultsTest {

    private static final String OTHER = "GPU-00000000-1111-2222-3333-444444444444";
    private static final String RESET = "GPU reset occurred: ";

    /** The number of random logs; raised for a long run. */
    private static final int LOGS = Integer.getInteger("gpuwarden.ended-faults", 200);

    private ClassifierFixture log;

    @BeforeEach
    void listGpus() {
        log = gpus(new ClassifierFixture());
        log.after(Duration.ofMillis(1));
    }

    private static ClassifierFixture gpus(ClassifierFixture fixture) {
        return fixture.driverLists("0000:3b:00.0", ClassifierFixture.GPU).driverLists("0000:3c:00.0", OTHER);
    }

    private ClassifierFixture xid(String code) {
        return log.kernel("NVRM: Xid (PCI:0000:3b:00): " + code + ", pid=1, name=a");
    }

    private ClassifierFixture acknowledge(String end) {
        return log.record(Writer.PRIVILEGED, log.time.instant(), RESET + ClassifierFixture.GPU + end);
    }

    private Set<String> codes() {
        return log.store.faults().stream()
                .map(fault -> fault.key().errorCode())
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private void pass(int seconds) {
        log.after(Duration.ofSeconds(seconds)).flush();
    }

    @Test
    void faultThatReturnsBeforeTheAcknowledgementStays() {
        xid("48").flush();
        pass(20);
        Instant end = log.time.instant();
        pass(3);
        xid("48").flush();
        pass(10);
        acknowledge(" at " + end).flush();
        assertThat(codes()).containsExactly("48");
        assertThat(log.store.faults()).allMatch(Fault::decides);
    }

    @Test
    void olderFaultsOfTheGpuEndAndNewerStay() {
        xid("48").flush();
        xid("95").flush();
        pass(20);
        Instant end = log.time.instant();
        pass(3);
        xid("79").flush();
        acknowledge(" at " + end);
        List<HealthEvent> events = log.flush();
        assertThat(codes()).containsExactly("79");
        assertThat(events.get(0).errorCodes()).containsExactlyInAnyOrder("48", "95");
        assertThat(events).allMatch(event -> event.metadata().containsKey("gpuwarden.dev/reset-end"));
    }

    @Test
    void lineInTheSameBatchIsCompared() {
        xid("48");
        pass(20);
        Instant end = log.time.instant();
        log.after(Duration.ofSeconds(3));
        xid("48");
        acknowledge(" at " + end).flush();
        assertThat(codes()).containsExactly("48");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " at 2100-01-01T00:00:00Z", " at 1999-01-01T00:00:00Z", " at noon", " at "})
    void withoutAUsableTimeTheOrderOfTheLogCounts(String end) {
        xid("48").flush();
        pass(20);
        acknowledge(end).flush();
        assertThat(codes()).isEmpty();
        xid("48").flush();
        assertThat(codes()).containsExactly("48");
    }

    @Test
    void successOfTheOtherFormHasATimeToo() {
        Instant before = log.time.instant().minusSeconds(5);
        xid("48").flush();
        log.record(
                        Writer.PRIVILEGED,
                        log.time.instant(),
                        "GPU reset executed: " + ClassifierFixture.GPU + ", success: true at " + before)
                .flush();
        assertThat(codes()).containsExactly("48");
    }

    @Test
    void lineOfALogWhoseClockIsAheadIsNoLaterThanItsReading() {
        log.record(Writer.KERNEL, log.time.instant().plusSeconds(50), "NVRM: Xid (PCI:0000:3b:00): 48, pid=1, name=a")
                .flush();
        pass(20);
        Instant end = log.time.instant();
        pass(3);
        acknowledge(" at " + end).flush();
        assertThat(codes()).isEmpty();
    }

    @Test
    void nextProcessComparesTheTimeOfStorage() {
        xid("48").flush();
        pass(20);
        Instant end = log.time.instant();
        pass(3);
        xid("95").flush();
        log = gpus(new ClassifierFixture(Rules.NONE, log.time, log.store));
        log.resumeAt(100);
        acknowledge(" at " + end).flush();
        assertThat(codes()).containsExactly("95");
    }

    @Test
    void findingSinceTheEndOfTheResetIsNotEnded() {
        HealthEvent failed = HealthEvent.of("gpuwarden", "GPU", "GpuState")
                .nodeName("node1")
                .fatal(true)
                .action(RecommendedAction.COMPONENT_RESET)
                .errorCodes(List.of("gpu-reset-required"))
                .entities(List.of(dev.gpuwarden.core.event.Entity.gpu(ClassifierFixture.GPU)))
                .build();
        Instant seen = log.time.instant();
        List<Fault> current = List.of(new Fault(failed.keys().get(0), failed, 1, seen, seen, 1));
        assertThat(verified(current, seen.minusSeconds(1)))
                .extracting(HealthEvent::checkName)
                .doesNotContain("GpuState");
        assertThat(verified(current, seen.plusSeconds(1)))
                .extracting(HealthEvent::checkName)
                .contains("GpuState");
    }

    private List<HealthEvent> verified(List<Fault> current, Instant end) {
        log.after(Duration.ofSeconds(5));
        acknowledge(" at " + end);
        return FaultPolicy.verifyRepairs(log.batcher.flush(), current, log.time.instant());
    }

    @Test
    void randomLogsEndOlderFaultsAlone() {
        for (int seed = 0; seed < LOGS; seed++) {
            new RandomLog(seed).run();
        }
    }

    /** A random log of two GPUs with late acknowledgements, forged lines and restarts, beside a model of its faults. */
    private static final class RandomLog {
        private final Random random;
        private final int seed;
        /** The time of the last proven line of a fault; the times of its end before that do not end it. */
        private final Map<String, Instant> faults = new HashMap<>();

        private final List<String> open = new ArrayList<>();
        private ClassifierFixture log = gpus(new ClassifierFixture());
        private int lines;

        RandomLog(int seed) {
            this.seed = seed;
            random = new Random(seed);
        }

        private static String uuid(int gpu) {
            return gpu == 0 ? ClassifierFixture.GPU : OTHER;
        }

        void run() {
            for (int step = 0; step < 40; step++) {
                log.after(Duration.ofMillis(1 + random.nextInt(9000)).plusNanos(1));
                int gpu = random.nextInt(2);
                switch (random.nextInt(8)) {
                    case 0, 1, 2 -> fault(gpu, List.of("48", "79", "95").get(random.nextInt(3)));
                    case 3 -> open.add(RESET + uuid(gpu) + " at " + log.time.instant());
                    case 4, 5 -> acknowledge();
                    case 6 -> forge(gpu);
                    default -> restart();
                }
                log.flush();
                check(step);
            }
            FaultTable replayed = new FaultTable();
            log.store.events().forEach(event -> replayed.apply(event, 1, event.generated()));
            assertThat(keys(replayed.faults())).as("replay of log " + seed).isEqualTo(keys(log.store.faults()));
        }

        private static Set<FaultKey> keys(List<Fault> faults) {
            return faults.stream().map(Fault::key).collect(Collectors.toSet());
        }

        private void fault(int gpu, String code) {
            log.kernel("NVRM: Xid (PCI:0000:3" + "bc".charAt(gpu) + ":00): " + code + ", pid=1, name=a");
            lines++;
            faults.put(uuid(gpu) + " " + code, log.time.instant());
        }

        private void acknowledge() {
            if (open.isEmpty()) {
                return;
            }
            String line = open.remove(random.nextInt(open.size()));
            log.record(Writer.PRIVILEGED, log.time.instant(), line);
            lines++;
            Instant end = Instant.parse(line.substring(line.indexOf(" at ") + 4));
            faults.entrySet()
                    .removeIf(fault -> line.contains(fault.getKey().substring(0, 40))
                            && fault.getValue().isBefore(end));
        }

        private void forge(int gpu) {
            log.record(
                    Writer.UNTOLD,
                    log.time.instant(),
                    random.nextBoolean()
                            ? RESET + uuid(gpu)
                            : "NVRM: Xid (PCI:0000:3" + "bc".charAt(gpu) + ":00): 79, pid=1, name=a");
            lines++;
        }

        private void restart() {
            log.flush();
            log = gpus(new ClassifierFixture(Rules.NONE, log.time, log.store));
            log.resumeAt(lines + 1000L);
        }

        private void check(int step) {
            Set<String> decides = log.store.faults().stream()
                    .filter(Fault::decides)
                    .filter(fault -> fault.key().entity().value().startsWith("GPU-"))
                    .map(fault ->
                            fault.key().entity().value() + " " + fault.key().errorCode())
                    .collect(Collectors.toSet());
            assertThat(decides).as("log " + seed + ", step " + step).isEqualTo(faults.keySet());
        }
    }
}
