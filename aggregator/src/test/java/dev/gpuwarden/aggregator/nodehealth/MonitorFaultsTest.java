package dev.gpuwarden.aggregator.nodehealth;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.aggregator.nodehealth.FaultEntry.ShownText;
import dev.gpuwarden.aggregator.nodehealth.NodeHealth.ReportedState;
import dev.gpuwarden.aggregator.nodehealth.NodeHealthException.NoRoom;
import dev.gpuwarden.aggregator.nodehealth.NodeHealthException.UnreadableNodeHealth;
import dev.gpuwarden.aggregator.nodehealth.StoredHealth.StreamEpoch;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.node.ReportedGpus;
import dev.gpuwarden.core.util.FieldReader;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The content of a monitor's place after new reports of that monitor. */
class MonitorFaultsTest {

    private static final Instant NOW = Instant.parse("2026-11-22T01:02:03Z");
    private static final String MONITOR = "watch/all";

    private static HealthEvent.Builder event(String check) {
        return HealthEvent.of("fabric", "SWITCH", check).id("e-" + check).nodeName("n1");
    }

    private static Optional<Map<String, Object>> after(Map<String, Object> status, Instant now, HealthEvent... events)
            throws Exception {
        return MonitorFaults.after(Optional.of(new FieldReader("", status)), "n1", MONITOR, List.of(events), now);
    }

    private static Map<String, Object> status(Map<?, ?>... places) {
        return Map.of("monitors", List.of(places));
    }

    private static NodeHealth read(Map<String, Object> status) throws UnreadableNodeHealth {
        return NodeHealth.read(Map.of("metadata", Map.of("name", "n1"), "status", status));
    }

    @Test
    void faultsAddUpAndClearByEachOfTheirNames() throws Exception {
        HealthEvent gpu = event("a")
                .fatal(true)
                .entities(List.of(new Entity("PCI", "0000:3b:00"), new Entity("GPU_UUID", "GPU-1")))
                .build();
        Map<String, Object> one = after(Map.of(), NOW, gpu).orElseThrow();
        assertThat(one)
                .containsEntry("name", MONITOR)
                .containsEntry("fatalCount", 2L)
                .containsEntry("worst", "a GPU_UUID:GPU-1");
        Map<String, Object> two = after(status(one), NOW, event("b").build()).orElseThrow();
        assertThat(two).containsEntry("faultCount", 3).containsEntry("fatalCount", 2L);
        NodeHealth read = read(status(two));
        assertThat(read.generation()).isZero();
        assertThat(read.reported()).isEmpty();
        assertThat(read.faults()).hasSize(3);
        HealthEvent well = event("a")
                .healthy(true)
                .entities(List.of(new Entity("PCI", "0000:3b:00")))
                .build();
        assertThat(after(status(two), NOW, well).orElseThrow())
                .as("under its other name too")
                .containsEntry("faultCount", 1)
                .containsEntry("fatalCount", 0L);
    }

    @Test
    void repeatedReportIsWrittenOnlyAfterTheConfirmInterval() throws Exception {
        assertThat(after(Map.of(), NOW, event("a").healthy(true).build())).isEmpty();
        Map<String, Object> one = after(Map.of(), NOW, event("a").build()).orElseThrow();
        assertThat(after(status(one), NOW.plusSeconds(10), event("a").build())).isEmpty();
        Instant later = NOW.plus(MonitorFaults.CONFIRM).plusSeconds(1);
        Map<String, Object> again =
                after(status(one), later, event("a").build()).orElseThrow();
        Fault fault = read(status(again)).faults().get(0);
        assertThat(fault.since()).isEqualTo(NOW);
        assertThat(fault.lastSeen()).isEqualTo(later);
    }

    @Test
    void placeOfAnotherMonitorStays() throws Exception {
        Map<String, Object> theirs =
                new HashMap<>(after(Map.of(), NOW, event("a").build()).orElseThrow());
        theirs.put("name", "watch/other");
        assertThat(after(status(theirs), NOW, event("a").healthy(true).build())).isEmpty();
        assertThat(after(status(theirs), NOW, event("b").build()).orElseThrow()).containsEntry("faultCount", 1);
    }

    @Test
    void reportBeyondTheLimitIsRefusedWhole() {
        HealthEvent wide = event("a")
                .entities(IntStream.rangeClosed(0, MonitorFaults.MOST_FAULTS)
                        .mapToObj(i -> new Entity("E", Integer.toString(i)))
                        .toList())
                .build();
        assertThatThrownBy(() -> after(Map.of(), NOW, wide))
                .isInstanceOf(NoRoom.class)
                .hasMessageContaining("65 faults reported by watch/all, expected at most 64");
    }

    @Test
    void worseFaultCountsIfNodeAndMonitorReportTheSame() throws Exception {
        Map<String, Object> status = new HashMap<>(NodeHealthStatus.tree(new ReportedState(
                "n1",
                "",
                "",
                NOW,
                new StreamEpoch(NOW, "a"),
                3,
                7,
                0,
                List.of(fault(false), fault("own")),
                ReportedGpus.NONE)));
        Map<String, Object> place = new HashMap<>(
                status(after(Map.of(), NOW, event("a").fatal(true).build()).orElseThrow()));
        status.putAll(place);
        assertThat(read(Map.copyOf(status)).faults())
                .extracting(fault -> fault.key().checkName() + fault.cause().fatal())
                .containsExactly("atrue", "ownfalse");
    }

    @Test
    void placeIsReplacedOnlyIfItsContentChanges() throws Exception {
        List<Fault> faults = List.of(fault(true), fault("b"));
        Map<String, Object> place =
                MonitorFaults.exactly(MONITOR, List.of(), faults, NOW).orElseThrow();
        assertThat(place).containsEntry("faultCount", 2).containsEntry("fatalCount", 1L);
        List<Fault> reported = MonitorFaults.reported(Optional.of(new FieldReader("", status(place))), "n1", MONITOR);
        assertThat(MonitorFaults.exactly(
                        MONITOR, reported, List.of(faults.get(1), faults.get(0)), NOW.plusSeconds(1000)))
                .isEmpty();
        assertThat(MonitorFaults.exactly(MONITOR, reported, List.of(), NOW).orElseThrow())
                .containsEntry("faultCount", 0)
                .containsEntry("faults", List.of());
        assertThat(MonitorFaults.reported(Optional.of(new FieldReader("", status(place))), "n1", "another"))
                .isEmpty();
    }

    @Test
    void firstFaultStatesTheNumberOfFaultsWithoutRoom() throws Exception {
        for (int characters : new int[] {10, 500}) {
            HealthEvent wide = event("a")
                    .message("x".repeat(characters))
                    .entities(IntStream.range(0, 100)
                            .mapToObj(i -> new Entity("Pod", "y".repeat(characters / 2) + i))
                            .toList())
                    .build();
            List<Fault> wanted = wide.keys().stream()
                    .map(key -> new Fault(key, wide, 0, NOW, NOW, 1))
                    .toList();
            Map<String, Object> place =
                    MonitorFaults.exactly(MONITOR, List.of(), wanted, NOW).orElseThrow();
            assertThat(ShownText.bytes(place.get("faults"))).isLessThanOrEqualTo(MonitorFaults.MOST_BYTES);
            List<Fault> reported =
                    MonitorFaults.reported(Optional.of(new FieldReader("", status(place))), "n1", MONITOR);
            assertThat(reported)
                    .hasSizeLessThanOrEqualTo(MonitorFaults.MOST_FAULTS)
                    .hasSizeGreaterThan(30);
            assertThat(reported.get(0).cause().message())
                    .endsWith(" (and " + (100 - reported.size()) + " more, for which there is no room)");
            assertThat(MonitorFaults.exactly(MONITOR, reported, wanted, NOW)).isEmpty();
        }
    }

    private static Fault fault(boolean fatal) {
        HealthEvent cause = event("a").fatal(fatal).build();
        return new Fault(cause.keys().get(0), cause, 1, NOW, NOW, 1);
    }

    private static Fault fault(String check) {
        HealthEvent cause = event(check).build();
        return new Fault(cause.keys().get(0), cause, 1, NOW, NOW, 1);
    }
}
