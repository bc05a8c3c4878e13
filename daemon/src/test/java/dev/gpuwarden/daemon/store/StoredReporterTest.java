package dev.gpuwarden.daemon.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.event.EventWriter.Receipt;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.Reporter;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Reporters in the store. */
class StoredReporterTest extends StoreFixture {

    private static final Reporter MONITOR = new Reporter("namespace monitoring", "pod monitoring/dcgm-abcde, user 0");
    private static final Reporter BATCH = new Reporter("namespace batch", "pod batch/train-0, user 0");

    @Test
    void afterARestartAFaultStillEndsByItsOwnReporterAlone() {
        store().accept(by(MONITOR, Events.xid("79", 1)));
        store().accept(Events.xid("79", 2));
        assertThat(store().faults()).hasSize(4);
        reopen();
        assertThat(store().faults()).hasSize(4);
        store().accept(by(BATCH, Events.healthy(3)));
        assertThat(store().faults()).hasSize(4);
        store().accept(by(MONITOR, Events.healthy(4)));
        assertThat(store().faults())
                .hasSize(2)
                .allMatch(fault -> fault.key().reporter().isEmpty());
        reopen();
        assertThat(store().faults()).hasSize(2);
        store().accept(Events.healthy(5));
        assertThat(store().faults()).isEmpty();
    }

    /** A reporter could otherwise send the report of another one first, without an effect. */
    @Test
    void theSameReportOfAnotherIsNoDuplicate() {
        store().accept(by(MONITOR, Events.xid("79", 1)));
        HealthEvent over = Events.healthy(2).withId("known");
        assertThat(store().accept(by(BATCH, over))).isEqualTo(Receipt.STORED);
        assertThat(store().accept(by(MONITOR, over))).isEqualTo(Receipt.STORED);
        assertThat(store().faults()).isEmpty();
    }

    private static HealthEvent by(Reporter reporter, HealthEvent event) {
        return event.toBuilder().metadata(reporter.in(Map.of())).build();
    }
}
