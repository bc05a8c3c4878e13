package dev.gpuwarden.aggregator.nodehealth;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.aggregator.nodehealth.NodeHealth.ReportedState;
import dev.gpuwarden.aggregator.nodehealth.NodeHealthException.UnreadableNodeHealth;
import dev.gpuwarden.aggregator.nodehealth.StoredHealth.StreamEpoch;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.FaultTable;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.Reporter;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.node.PartNames;
import dev.gpuwarden.core.node.ReportedGpus;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NodeHealthTest {

    private static final Instant NOW = Instant.parse("2026-11-22T01:02:03.456Z");
    private static final KubernetesSerialization JSON = new KubernetesSerialization();

    private static final ReportedGpus GPUS = new ReportedGpus(List.of(
            new ReportedGpus.Gpu(
                    3,
                    PciAddress.parse("0000:3b:00.0"),
                    Optional.of("GPU-1"),
                    Optional.of(new TreeSet<>(Set.of("GPU-2", "GPU-3")))),
            new ReportedGpus.Gpu(4, Optional.empty(), Optional.of("GPU-2"), Optional.of(new TreeSet<>())),
            new ReportedGpus.Gpu(5, Optional.empty(), Optional.empty(), Optional.empty())));

    private static Map<String, Object> status(List<Fault> faults) {
        return status(faults, GPUS);
    }

    private static Map<String, Object> status(List<Fault> faults, ReportedGpus gpus) {
        return NodeHealthStatus.tree(
                new ReportedState("n1", "boot", "1.0", NOW, new StreamEpoch(NOW, "a"), 3, 7, 2, faults, gpus));
    }

    /** Returns the resource in the API server's JSON. */
    private static Map<?, ?> resource(Map<String, Object> status) {
        Map<String, Object> owner = Map.of("kind", "Node", "name", "n1", "uid", "u-1");
        Map<String, Object> resource =
                Map.of("metadata", Map.of("name", "n1", "ownerReferences", List.of(owner)), "status", status);
        return JSON.unmarshal(JSON.asJson(resource), Map.class);
    }

    private static List<Fault> faults(HealthEvent... events) {
        FaultTable table = new FaultTable();
        for (int i = 0; i < events.length; i++) {
            table.apply(events[i], i + 1, NOW.plusSeconds(i));
        }
        return table.faults();
    }

    private static HealthEvent.Builder event(String id) {
        return HealthEvent.of("agent", "GPU", "Check")
                .id(id)
                .nodeName("n1")
                .fatal(true)
                .metadata(Map.of("b", "2", "a", "1"))
                .message("off the bus");
    }

    /** Annotations of Nodes have no reporters, and a key with one would never be found in them. */
    @Test
    void theWorseOfTwoReportersOfOneFaultCountsUnderAKeyWithoutReporter() {
        FaultTable table = new FaultTable();
        HealthEvent.Builder event = HealthEvent.of("syslog-health-monitor", "GPU", "SysLogsXIDError")
                .nodeName("n1")
                .errorCodes(List.of("79"));
        table.apply(event.build(), 1, NOW);
        table.apply(
                event.fatal(true)
                        .metadata(new Reporter("namespace monitoring", "pod monitoring/a").in(Map.of()))
                        .build(),
                2,
                NOW);
        assertThat(table.faults()).hasSize(2);
        assertThat(FaultEntry.ofAnyReporter(table.faults()))
                .singleElement()
                .matches(
                        fault -> fault.cause().fatal() && fault.key().reporter().isEmpty());
    }

    @Test
    void faultsOfOneEventAreReadWithOneCause() throws Exception {
        List<Entity> gpus = List.of(new Entity("PCI", "0000:3b:00"), new Entity("GPU_UUID", "GPU-1"));
        HealthEvent both =
                event("one").entities(gpus).errorCodes(List.of("48", "79")).build();
        HealthEvent other =
                event("other").entities(gpus).errorCodes(List.of("13")).build();
        NodeHealth read = NodeHealth.read(resource(status(faults(both, other))));
        assertThat(read.node()).isEqualTo("n1");
        assertThat(read.nodeUid()).contains("u-1");
        assertThat(read.reported()).contains(Instant.parse("2026-11-22T01:02:03Z"));
        assertThat(read.generation()).isEqualTo(3);
        assertThat(read.droppedEvents()).isEqualTo(2);
        assertThat(read.names().of(gpus)).isEqualTo("GPU 3 (0000:3b:00.0)");
        assertThat(read.faults()).hasSize(6).allSatisfy(fault -> {
            assertThat(fault.key().nodeName()).isEqualTo("n1");
            assertThat(fault.cause().keys()).contains(fault.key());
            assertThat(fault.cause().nodeName()).isEqualTo("n1");
            assertThat(fault.cause().metadata()).isEqualTo(Map.of("a", "1", "b", "2"));
        });
        assertThat(read.faults().stream().map(Fault::cause).distinct())
                .extracting(
                        HealthEvent::id,
                        cause -> List.copyOf(cause.errorCodes()),
                        cause -> cause.entities().size())
                .containsExactly(
                        org.assertj.core.groups.Tuple.tuple("one", List.of("48", "79"), 2),
                        org.assertj.core.groups.Tuple.tuple("other", List.of("13"), 2));
        Fault first = read.faults().get(0);
        assertThat(first.since()).isEqualTo(Instant.parse("2026-11-22T01:02:03Z"));
        assertThat(first.sequence()).isEqualTo(1);
    }

    @Test
    void eventsWithoutIdAndNumberStaySeparate() throws Exception {
        FaultTable table = new FaultTable();
        for (String code : List.of("1", "2")) {
            table.apply(event("").errorCodes(List.of(code)).build(), 0, NOW);
        }
        assertThat(NodeHealth.read(resource(status(table.faults()))).faults())
                .extracting(fault -> fault.cause().errorCodes())
                .containsExactly(List.of("1"), List.of("2"));
    }

    @Test
    void nodeWithoutReportHasNoFaultsAndNoGeneration() throws Exception {
        NodeHealth read = NodeHealth.read(Map.of("metadata", Map.of("name", "n1")));
        assertThat(read)
                .isEqualTo(new NodeHealth(
                        "n1",
                        Optional.empty(),
                        Optional.empty(),
                        0,
                        0,
                        0,
                        List.of(),
                        PartNames.NONE,
                        Optional.empty(),
                        ReportedGpus.NONE));
    }

    @Test
    void theGpusOfTheNodeAndTheirResetUnitsAreRead() throws Exception {
        Map<?, ?> resource = resource(status(List.of()));
        assertThat(NodeHealth.read(resource).gpus()).isEqualTo(GPUS);
        assertThat(NodeHealth.gpusOf("u-1", resource)).isEqualTo(GPUS);
        assertThat(NodeHealth.gpusOf("u-2", resource))
                .as("of a Node that was created again")
                .isEqualTo(ReportedGpus.NONE);
    }

    @Test
    void gpusWithoutRoomAreCountedAndTheirUnitsAreNotWhole() throws Exception {
        List<ReportedGpus.Gpu> many = IntStream.range(0, NodeHealthStatus.MOST_GPUS + 2)
                .mapToObj(i -> new ReportedGpus.Gpu(
                        i, Optional.empty(), Optional.of("GPU-" + i), Optional.of(new TreeSet<>())))
                .toList();
        ReportedGpus full = new ReportedGpus(many.subList(0, NodeHealthStatus.MOST_GPUS));
        ReportedGpus cut = new ReportedGpus(many, OptionalLong.of(3));
        assertThat(status(List.of(), GPUS)).as("as older definitions accept").doesNotContainKey("unlistedGpuCount");
        assertThat(NodeHealth.read(resource(status(List.of(), full))).gpus()).isEqualTo(full);
        assertThat(status(List.of(), cut)).containsEntry("unlistedGpuCount", 5L);
        ReportedGpus read = NodeHealth.read(resource(status(List.of(), cut))).gpus();
        assertThat(read).isEqualTo(new ReportedGpus(full.gpus(), OptionalLong.of(5)));
        assertThat(read.units().mayMiss(Set.of("GPU-63"))).isFalse();
        assertThat(read.units().mayMiss(Set.of("GPU-63", "GPU-64"))).isTrue();

        Map<String, Object> older = status(List.of(), full);
        older.remove("unlistedGpuCount");
        assertThat(NodeHealth.units(resource(older)).mayMiss(Set.of("GPU-64")))
                .as("an aggregator of an older version did not count")
                .isTrue();
    }

    @Test
    void statusThatWasReadIsWrittenUnchanged() throws Exception {
        Random random = new Random(7);
        for (int i = 0; i < 300; i++) {
            Map<String, Object> written = status(new RandomFaults(random).faults(1 + random.nextInt(40)));
            NodeHealth read = NodeHealth.read(resource(written));
            assertThat(JSON.asJson(status(read.faults())))
                    .as("seed 7, round " + i)
                    .isEqualTo(JSON.asJson(written));
            assertThat(read.faults())
                    .allSatisfy(fault -> assertThat(fault.cause().keys()).contains(fault.key()));
        }
    }

    @ParameterizedTest
    @CsvSource(quoteCharacter = '`', textBlock = """
                    since,              yesterday,      `: status.faults[0].since: expected a time of RFC 3339 in UTC, seen 'yesterday'`
                    recommendedAction,  DANCE,          `: status.faults[0].recommendedAction: expected one of [NONE`
                    fatal,              yes,            `: status.faults[0].fatal: expected true or false, seen 'yes'`
                    sequence,           7,              `: status.faults[0].sequence: expected a whole number from 0 on, seen '7'`
                    quarantineOverride, Maybe,          `: status.faults[0].quarantineOverride: expected Force or Skip, seen 'Maybe'`
                    metadata,           x,              `: status.faults[0].metadata: expected an object, seen 'x'`
                    entityValue,        x,              `expected both entityType and entityValue, or neither`
                    checkName,          ``,             `: status.faults[0].checkName: expected a name, seen ''`
                    """)
    void errorNamesFieldAndExpectedAndSeenValue(String field, String value, String message) {
        Map<?, ?> resource = resource(status(faults(event("one").build())));
        Map<String, Object> fault = new LinkedHashMap<>();
        ((Map<?, ?>) ((List<?>) ((Map<?, ?>) resource.get("status")).get("faults")).get(0))
                .forEach((key, old) -> fault.put(String.valueOf(key), old));
        fault.put(field, value);
        Map<String, Object> status = new LinkedHashMap<>(status(List.of()));
        status.put("faults", List.of(fault));
        assertThatThrownBy(() -> NodeHealth.read(resource(status)))
                .isInstanceOf(UnreadableNodeHealth.class)
                .hasMessageStartingWith("NodeHealth n1: ")
                .hasMessageContaining(message);
    }

    @Test
    void brokenResourceThrowsOnlyUnreadableNodeHealth() {
        Random random = new Random(11);
        int unreadable = 0;
        for (int i = 0; i < 3000; i++) {
            Object broken = new Scrambled(random).of(resource(status(new RandomFaults(random).faults(3))));
            try {
                if (broken instanceof Map<?, ?> map) {
                    var unused = NodeHealth.read(map);
                }
            } catch (UnreadableNodeHealth e) {
                assertThat(e.getMessage()).startsWith("NodeHealth").contains(": expected ", ", seen ");
                unreadable++;
            }
        }
        assertThat(unreadable).isGreaterThan(500);
    }
}
