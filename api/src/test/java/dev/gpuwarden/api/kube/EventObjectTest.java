package dev.gpuwarden.api.kube;

import static dev.gpuwarden.core.event.Told.NODE;
import static dev.gpuwarden.core.event.Told.NOON;
import static dev.gpuwarden.core.event.Told.stored;
import static dev.gpuwarden.core.event.Told.xid79;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.StoredEvent;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class EventObjectTest {

    @Test
    void fatalFaultIsAWarningWithDetails() {
        EventObject event = EventObject.of(
                        List.of(stored(0xabc, xid79("0000:3b:00").build())), NODE)
                .get(0);
        assertThat(event)
                .isEqualTo(new EventObject(
                        "node-a.abc",
                        "Warning",
                        "SysLogsXIDErrorIsNotHealthy",
                        "ErrorCode:79 PCI:0000:3b:00 GPU_UUID:GPU-0000:3b:00 fell off the bus"
                                + " Recommended Action=RESTART_BM;",
                        1,
                        false,
                        NOON.plusSeconds(0xabc),
                        NOON.plusSeconds(0xabc)));
        assertThat(event.body(NODE, "gpuwarden"))
                .containsEntry("involvedObject", Map.of("apiVersion", "v1", "kind", "Node", "name", NODE, "uid", NODE))
                .containsEntry("reportingComponent", "gpuwarden")
                .containsEntry("metadata", Map.of("name", "node-a.abc", "namespace", "default"));
    }

    @Test
    void nonFatalEventHasItsCheckAsType() {
        HealthEvent mild = xid79("0000:3b:00").fatal(false).build();
        HealthEvent well = xid79("0000:3b:00")
                .fatal(false)
                .healthy(true)
                .message("is over")
                .build();
        assertThat(EventObject.of(List.of(stored(1, mild), stored(2, well)), NODE))
                .extracting(EventObject::type, EventObject::reason)
                .containsExactly(
                        org.assertj.core.groups.Tuple.tuple("SysLogsXIDError", "SysLogsXIDErrorIsNotHealthy"),
                        org.assertj.core.groups.Tuple.tuple("Normal", "SysLogsXIDErrorIsHealthy"));
    }

    @Test
    void similarEventsAreOneObjectNamedByTheFirst() {
        HealthEvent one = xid79("0000:3b:00").build();
        HealthEvent other = xid79("0000:4c:00").build();
        List<EventObject> objects =
                EventObject.of(List.of(stored(1, one), stored(2, other), stored(3, one), stored(4, one)), NODE);
        assertThat(objects)
                .extracting(EventObject::name, EventObject::count, EventObject::first, EventObject::last)
                .containsExactly(
                        org.assertj.core.groups.Tuple.tuple("node-a.1", 3L, NOON.plusSeconds(1), NOON.plusSeconds(4)),
                        org.assertj.core.groups.Tuple.tuple("node-a.2", 1L, NOON.plusSeconds(2), NOON.plusSeconds(2)));
        assertThat(objects.get(0).message()).endsWith("; (and 2 like it, see `gpuwarden events`)");
    }

    @Test
    void stormIsGroupedByCheck() {
        List<StoredEvent> storm = LongStream.rangeClosed(1, 100)
                .mapToObj(i -> stored(i, xid79("0000:00:" + i).build()))
                .toList();
        assertThat(EventObject.of(storm.subList(0, EventObject.MOST_AT_ONCE), NODE))
                .hasSize(EventObject.MOST_AT_ONCE);
        assertThat(EventObject.of(storm, NODE)).hasSize(1).allMatch(event -> event.count() == 100);
    }

    @Test
    void occurrencesAreCountedAndTextsBounded() {
        HealthEvent loud = xid79("0000:3b:00").message("x".repeat(9000)).build();
        EventObject event = EventObject.of(List.of(new StoredEvent(7, loud, NOON, NOON.plusSeconds(9), 12)), NODE)
                .get(0);
        assertThat(event.count()).isEqualTo(12);
        assertThat(event.message()).hasSizeLessThanOrEqualTo(1024);
        assertThat(event.told())
                .containsOnlyKeys("message", "count", "lastTimestamp")
                .containsEntry("lastTimestamp", "2026-11-22T12:00:09Z");
        assertThat(EventObject.name("n".repeat(228) + ".-" + "x".repeat(20), 1)).hasSize(230);
    }
}
