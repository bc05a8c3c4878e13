package dev.gpuwarden.checks.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.GpuHistory;
import dev.gpuwarden.core.check.Limits;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Outcome;
import dev.gpuwarden.core.health.Snapshots;
import dev.gpuwarden.core.health.Subject;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class CudaNotReadyTest {

    private static final Subject GPU = Subject.of(Snapshots.identity(0));
    private static final CheckInfo HOURLY =
            CheckInfo.of("pciebw", "GPU", "Copies.").every(Duration.ofHours(1));

    private final Map<String, Long> notes = new HashMap<>();
    private Instant now = Instant.parse("2026-01-01T00:00:00Z");
    private Optional<String> young = Optional.empty();

    private Finding after(Duration time, Finding finding) {
        now = now.plus(time);
        return CudaNotReady.judged(
                        List.of(finding),
                        new Gpus.Context(
                                Snapshots.running(1, Snapshots.healthy(0)),
                                GpuHistory.NONE,
                                Limits.NONE,
                                notes,
                                now,
                                young),
                        HOURLY)
                .get(0);
    }

    @Test
    void measuredForTenMinutesItIsAFault() {
        Finding not = Finding.unknown(CudaNotReady.CODE, GPU, CudaNotReady.TEXT + "code 802", "");
        assertThat(after(Duration.ZERO, not)).isEqualTo(not);
        assertThat(after(Duration.ofMinutes(9), not)).isEqualTo(not);
        Finding lasting = after(Duration.ofMinutes(1), not);
        assertThat(lasting.outcome()).isEqualTo(Outcome.FAIL);
        assertThat(lasting.action()).isEqualTo(RecommendedAction.CONTACT_SUPPORT);
        young = Optional.of("the node is young");
        assertThat(after(Duration.ofHours(1), not)).isEqualTo(not);
        young = Optional.empty();
        Finding skipped = Finding.skipped("gpu-held", GPU, "held");
        assertThat(after(Duration.ofHours(1), skipped)).isEqualTo(skipped);
        assertThat(after(Duration.ofHours(1), not).outcome())
                .as("a skipped run proves nothing")
                .isEqualTo(Outcome.FAIL);
        after(Duration.ofHours(1), Finding.pass("fast", GPU, "measured"));
        assertThat(after(Duration.ofHours(1), not)).as("from the beginning").isEqualTo(not);
    }
}
