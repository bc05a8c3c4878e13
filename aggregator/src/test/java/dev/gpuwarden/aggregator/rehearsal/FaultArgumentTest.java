package dev.gpuwarden.aggregator.rehearsal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.RecommendedAction;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FaultArgumentTest {

    private static final List<Entity> GPU = List.of(Entity.gpu("GPU-455d8f70-2051-db6c-0430-ffc457bff834"));

    private static Optional<HealthEvent> event(String text) {
        FaultArgument fault = FaultArgument.parse(text);
        assertThat(fault.text()).isEqualTo(text);
        return fault.event("n", GPU, Instant.EPOCH);
    }

    @ParameterizedTest
    @CsvSource({
        "xid=48, syslog-health-monitor, SysLogsXIDError, true, COMPONENT_RESET",
        "xid=79, syslog-health-monitor, SysLogsXIDError, true, RESTART_BM",
        "xid=13, syslog-health-monitor, SysLogsXIDError, false, NONE",
        "check=gpu-memory/COMPONENT_RESET, gpuwarden, gpu-memory, true, COMPONENT_RESET",
        "check=Any/NONE, gpuwarden, Any, false, NONE"
    })
    void faultBecomesTheEventOfTheDaemon(
            String text, String agent, String check, boolean fatal, RecommendedAction action) {
        HealthEvent event = event(text).orElseThrow();
        assertThat(event.agent()).isEqualTo(agent);
        assertThat(event.checkName()).isEqualTo(check);
        assertThat(event.fatal()).isEqualTo(fatal);
        assertThat(event.action()).isEqualTo(action);
        assertThat(event.entities()).isEqualTo(GPU);
    }

    @Test
    void numberWithoutAFaultYieldsNoEvent() {
        assertThat(event("xid=14")).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "48, expected xid=CODE or check=NAME/ACTION",
        "xid=, expected an XID of NVIDIA's catalogue",
        "xid=-1, expected an XID of NVIDIA's catalogue",
        "xid=9999, expected an XID of NVIDIA's catalogue",
        "xid=11001, expected an XID of NVIDIA's catalogue",
        "check=a, expected xid=CODE or check=NAME/ACTION",
        "check=/NONE, expected a check's name",
        "check=a/REBOOT, expected an action of"
    })
    void anythingElseIsRefusedWithTheExpectedForm(String text, String message) {
        assertThatThrownBy(() -> FaultArgument.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith(message)
                .hasMessageContaining("found \"");
    }
}
