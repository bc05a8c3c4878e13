package dev.gpuwarden.daemon.vram.limits;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.port.CgroupLimits.Limit;
import dev.gpuwarden.watchdog.observation.GpuBytes;
import dev.gpuwarden.watchdog.observation.GpuObservation;
import dev.gpuwarden.watchdog.observation.ProcessKey;
import dev.gpuwarden.watchdog.observation.Tenant;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The limits that tenants' budgets give; PID 1 is in group /1, and so on. */
class LimitPlanTest {

    private static final long GIB = 1L << 30;
    private static final Reading<GpuBytes> CARD = Reading.of(new GpuBytes(16 * GIB, GIB, 5 * GIB, 10 * GIB));

    private static Tenant tenant(String name, Reading<Long> budget, int... pids) {
        return tenant(name, budget, false, pids);
    }

    private static Tenant tenant(String name, Reading<Long> budget, boolean leaving, int... pids) {
        Set<ProcessKey> processes =
                IntStream.of(pids).mapToObj(pid -> new ProcessKey(pid, 1)).collect(Collectors.toSet());
        return new Tenant(
                name, name, name, budget, Reading.of(GIB), processes, 0, Instant.EPOCH, Optional.empty(), leaving);
    }

    private static LimitPlan plan(Reading<GpuBytes> memory, boolean capped, Tenant... tenants) {
        return found(memory, capped, tenants).orElseThrow();
    }

    private static Optional<LimitPlan> found(Reading<GpuBytes> memory, boolean capped, Tenant... tenants) {
        GpuObservation seen = new GpuObservation("GPU-1", 1, 1, memory, Reading.of(List.of(tenants)), 1);
        return LimitPlan.of(
                seen,
                capped,
                process -> process.pid() == 9
                        ? Reading.absent(Absence.NO_DATA, 0, "it is in the root group")
                        : Reading.of("/" + process.pid()));
    }

    @Test
    void eachBudgetIsAGuaranteeOrACap() {
        Tenant one = tenant("one", Reading.of(3 * GIB), 1);
        Tenant two = tenant("two", Reading.of(5 * GIB), 2);
        assertThat(plan(CARD, false, one, two).limits())
                .isEqualTo(Map.of(
                        "/1",
                        new Limit(3 * GIB, OptionalLong.empty()),
                        "/2",
                        new Limit(5 * GIB, OptionalLong.empty())));
        assertThat(plan(CARD, true, one).limits())
                .isEqualTo(Map.of("/1", new Limit(3 * GIB, OptionalLong.of(3 * GIB))));
    }

    @Test
    void aTenantWithoutABudgetOrThatLeavesHasNoLimitAndNoReason() {
        LimitPlan plan = plan(
                CARD,
                true,
                tenant("free", Reading.absent(Absence.NO_DATA), 1),
                tenant("ends", Reading.of(GIB), true, 2),
                tenant("idle", Reading.of(GIB)));
        assertThat(plan.limits()).isEmpty();
        assertThat(plan.without()).isEmpty();
    }

    @Test
    void aGroupThatIsNotTheTenantsAloneIsLeftAlone() {
        LimitPlan plan = plan(
                CARD,
                true,
                tenant("two groups", Reading.of(GIB), 1, 2),
                tenant("root", Reading.of(GIB), 9),
                tenant("shared", Reading.of(GIB), 3),
                tenant("guest", Reading.absent(Absence.NO_DATA), 3, 4),
                tenant("good", Reading.of(GIB), 5));
        assertThat(plan.limits().keySet()).containsExactly("/5");
        assertThat(plan.without())
                .containsEntry("two groups", "its processes are in 2 control groups")
                .containsEntry("root", "its control group is unknown: it is in the root group")
                .containsEntry("shared", "its control group also has processes of guest");
    }

    @Test
    void budgetsAboveTheCardGiveNoLimit() {
        LimitPlan plan = plan(CARD, false, tenant("a", Reading.of(8 * GIB), 1), tenant("b", Reading.of(8 * GIB), 2));
        assertThat(plan.limits()).isEmpty();
        assertThat(plan.without()).containsEntry("a", "the budgets of this GPU are 16384 MiB of its 15360 MiB");
    }

    @Test
    void unknownMemoryGivesNoPlan() {
        assertThat(found(Reading.absent(Absence.STALE), false, tenant("a", Reading.of(GIB), 1)))
                .isEmpty();
    }
}
