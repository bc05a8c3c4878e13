package dev.gpuwarden.checks;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.check.CheckContext;
import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.GpuLoad;
import dev.gpuwarden.core.check.HealthCheck;
import dev.gpuwarden.core.health.Finding;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class TimeGridTest {

    private static final Duration EVERY = Duration.ofHours(4);
    private static final Instant START = Instant.parse("2026-11-25T09:30:00Z");
    private static final long NANOS = -77;

    private record Loading(CheckInfo info, GpuLoad load) implements HealthCheck {
        @Override
        public List<Finding> run(CheckContext context) {
            return List.of();
        }
    }

    private static CheckPlan.Planned check(String id, GpuLoad load) {
        CheckInfo info = CheckInfo.of(id, "GPU", "Load.").every(EVERY);
        return new CheckPlan.Planned(new Loading(info, load), info);
    }

    /** Returns the time of day of the first run after a start of the daemon. */
    private static Instant firstRun(String node, String id, Instant start, long startNanos) {
        CheckPlan.Planned check = check(id, GpuLoad.INVASIVE);
        long epoch = TimeGrid.ofNode(node, 0, start, startNanos).epochNanos(check);
        CheckJob job = new CheckJob(check, Duration.ofSeconds(10), startNanos, epoch);
        return start.plusNanos(job.due() - startNanos);
    }

    @Test
    void aRestartDoesNotPostponeACheckWithALoad() {
        Instant due = firstRun("node-1", "gpumem", START, NANOS);
        assertThat(due).isAfter(START).isBeforeOrEqualTo(START.plus(EVERY));
        assertThat(firstRun("node-1", "gpumem", due.minusSeconds(1), 5_000_000_000L))
                .isEqualTo(due);
        assertThat(firstRun("node-1", "gpumem", due, 0)).isEqualTo(due.plus(EVERY));
        assertThat(firstRun("node-1", "gpumem", due.plusMillis(1), 0)).isEqualTo(due.plus(EVERY));
    }

    @Test
    void nodesAndChecksAreSpreadOverTheInterval() {
        Map<Long, Long> nodesByHour = IntStream.range(0, 1000)
                .mapToObj(i -> Duration.between(START, firstRun("gpu-" + i, "gpumem", START, NANOS)))
                .collect(Collectors.groupingBy(wait -> wait.minusNanos(1).toHours(), Collectors.counting()));
        assertThat(nodesByHour).containsOnlyKeys(0L, 1L, 2L, 3L);
        assertThat(nodesByHour.values()).allSatisfy(nodes -> assertThat(nodes).isBetween(200L, 300L));
        assertThat(firstRun("node-1", "gpumem", START, NANOS))
                .isNotEqualTo(firstRun("node-1", "gpu-results", START, NANOS));
    }

    @Test
    void otherChecksFollowTheSampler() {
        assertThat(TimeGrid.ofNode("node-1", 42, START, NANOS).epochNanos(check("gpu-ecc", GpuLoad.NONE)))
                .isEqualTo(42);
    }
}
