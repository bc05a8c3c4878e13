package dev.gpuwarden.daemon.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.FaultKey;
import dev.gpuwarden.core.event.FaultTable;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.HealthEvent.EventLimits;
import dev.gpuwarden.daemon.grpc.ClearFaults.Request;
import dev.gpuwarden.daemon.grpc.ClearFaults.Selection;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ClearFaultsTest {

    private static final Request REQUEST = new Request("replaced", "uid 0, pid 1", Instant.EPOCH);
    private static final List<Entity> PARTS =
            List.of(new Entity(Entity.PCI, "0000:3b:00"), Entity.gpu("GPU-1"), Entity.gpu("GPU-2"), nic());

    private static Entity nic() {
        return new Entity("NIC", "mlx5_0");
    }

    static IntStream seeds() {
        return IntStream.range(0, 200);
    }

    private static <T> List<T> some(Random random, List<T> all) {
        return all.stream().filter(one -> random.nextInt(3) == 0).toList();
    }

    private static <T> T one(Random random, List<T> all) {
        return all.get(random.nextInt(all.size()));
    }

    /** Whatever faults there are and whichever are meant: those go, and no other. */
    @ParameterizedTest
    @MethodSource("seeds")
    void clearsWhatIsMeantAndNothingElse(int seed) {
        Random random = new Random(seed);
        FaultTable table = new FaultTable();
        for (int i = 0; i < 12; i++) {
            table.apply(
                    HealthEvent.of(one(random, List.of("a", "b")), "GPU", one(random, List.of("check", "other")))
                            .errorCodes(some(random, List.of("79", "13", "48")))
                            .entities(some(random, PARTS))
                            .nodeName("node-7")
                            .build(),
                    i,
                    Instant.EPOCH);
        }
        Selection selection = new Selection(
                one(random, List.of("", "a")),
                "",
                one(random, List.of("", "check")),
                Set.copyOf(some(random, List.of("79", "13", ""))),
                some(random, PARTS));
        List<FaultKey> meant = table.faults().stream()
                .filter(selection::matches)
                .map(Fault::key)
                .toList();
        List<FaultKey> rest =
                new ArrayList<>(table.faults().stream().map(Fault::key).toList());
        rest.removeAll(meant);

        List<HealthEvent> events = ClearFaults.events(
                table.faults().stream().filter(selection::matches).toList(), REQUEST);
        events.forEach(event -> table.apply(event, 100, Instant.EPOCH));
        // A GPU is one part under all of its names: the rest may lose those that one event gave to what was meant.
        assertThat(table.faults()).extracting(Fault::key).isSubsetOf(rest);
        if (selection.entities().isEmpty()) {
            assertThat(table.faults()).extracting(Fault::key).containsExactlyElementsOf(rest);
        }
        assertThat(events).allMatch(event -> event.healthy() && !event.fatal());
    }

    @Test
    void aFaultOfTheWholeCheckGoesAloneThoughItNamesNothing() {
        FaultTable table = new FaultTable();
        HealthEvent.Builder check = HealthEvent.of("a", "NODE", "check").nodeName("node-7");
        table.apply(check.build(), 1, Instant.EPOCH);
        table.apply(check.entities(List.of(nic())).errorCodes(List.of("x")).build(), 2, Instant.EPOCH);
        List<Fault> whole = table.faults().stream()
                .filter(fault -> fault.key().entity().equals(Entity.WHOLE))
                .toList();
        ClearFaults.events(whole, REQUEST).forEach(event -> table.apply(event, 3, Instant.EPOCH));
        assertThat(table.faults())
                .singleElement()
                .matches(fault -> fault.key().entity().equals(nic()));
    }

    @Test
    void manyFaultsMakeAsManyEventsAsTheStoreTakes() {
        FaultTable table = new FaultTable();
        for (int i = 0; i < 300; i++) {
            table.apply(
                    HealthEvent.of("a", "GPU", "check")
                            .entities(List.of(new Entity("NVLINK", i + "x".repeat(400))))
                            .build(),
                    i,
                    Instant.EPOCH);
        }
        List<HealthEvent> events = ClearFaults.events(table.faults(), REQUEST);
        assertThat(events).allMatch(event -> EventLimits.violation(event).isEmpty());
        events.forEach(event -> table.apply(event, 1000, Instant.EPOCH));
        assertThat(table.faults()).isEmpty();
    }
}
