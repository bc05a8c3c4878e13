package dev.gpuwarden.daemon.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.event.HealthEvent;
import java.util.List;
import org.junit.jupiter.api.Test;

class EventsConditionsTest {

    /** Events of a GPU's reset are both healthy and fatal in NVSentinel's contract. */
    @Test
    void fatalSelectsFaults() {
        EventsConditions conditions = new EventsConditions();
        conditions.fatal = true;
        HealthEvent.Builder event = HealthEvent.of("a", "GPU", "C").fatal(true);
        assertThat(conditions.hold(event.build(), List.of())).isTrue();
        assertThat(conditions.hold(event.healthy(true).build(), List.of())).isFalse();
        assertThat(conditions.request().getIsFatal()).isTrue();
        assertThat(conditions.request().hasIsHealthy()).isTrue();
        assertThat(conditions.request().getIsHealthy()).isFalse();
    }
}
