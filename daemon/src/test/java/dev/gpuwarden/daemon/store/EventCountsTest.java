package dev.gpuwarden.daemon.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.daemon.store.StoreStats.EventCounts;
import dev.gpuwarden.daemon.store.StoreStats.EventCounts.Kind;
import java.util.List;
import org.junit.jupiter.api.Test;

class EventCountsTest {

    private final EventCounts counts = new EventCounts();

    @Test
    void eventsAreCountedByKind() {
        counts.add(Events.xid("79", 1), 1);
        counts.add(Events.xid("79", 2), 5);
        counts.add(Events.builder(3).errorCodes(List.of("13", "31")).build(), 1);
        assertThat(counts.all())
                .containsEntry(new Kind("syslog-health-monitor", "SysLogsXIDError", "79", true, false), 6L)
                .containsEntry(new Kind("syslog-health-monitor", "SysLogsXIDError", "13,31", false, false), 1L);
    }

    @Test
    void endlesslyManyKindsAreCountedTogether() {
        for (int i = 0; i < 10_000; i++) {
            counts.add(Events.xid("code" + i, i), 1);
        }
        counts.add(Events.xid("code0", 1), 1);
        assertThat(counts.all())
                .hasSize(EventCounts.MOST_KINDS / 2 + 1)
                .containsEntry(new Kind("other", "other", "other", true, false), 9_750L)
                .containsEntry(new Kind("syslog-health-monitor", "SysLogsXIDError", "code0", true, false), 2L);
    }

    @Test
    void anotherAgentsFatalEventKeepsItsNames() {
        for (int i = 0; i < 10_000; i++) {
            counts.add(
                    HealthEvent.of("noisy" + i % 100, "", "check")
                            .errorCodes(List.of("pid " + i))
                            .build(),
                    1);
        }
        counts.add(Events.xid("79", 1), 1);
        assertThat(counts.all())
                .containsEntry(new Kind("syslog-health-monitor", "SysLogsXIDError", "79", true, false), 1L);
    }
}
