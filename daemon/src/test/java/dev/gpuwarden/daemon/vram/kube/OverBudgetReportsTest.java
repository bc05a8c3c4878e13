package dev.gpuwarden.daemon.vram.kube;

import static dev.gpuwarden.daemon.vram.VramFixture.tenant;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.api.VramCodec;
import dev.gpuwarden.checks.NodeFixture;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.daemon.vram.VramFixture;
import dev.gpuwarden.daemon.vram.watch.VramStatus;
import dev.gpuwarden.watchdog.decision.RecycleRules;
import dev.gpuwarden.watchdog.observation.Tenant;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The report of pods above their budgets, from states of a real watchdog. */
class OverBudgetReportsTest {

    private static VramStatus gpu(Reading<List<Tenant>> tenants) {
        return VramFixture.status(
                NodeFixture.identity(0),
                Instant.EPOCH,
                VramFixture.memory(2789),
                tenants,
                RecycleRules.DEFAULT,
                Map.of());
    }

    @Test
    void thePodsOfAllGpusAreAddedInSteps() {
        Reading<List<Tenant>> other =
                Reading.of(List.of(tenant("immich-ml", 0, 200), tenant("small", 1000, 1127), tenant("fits", 9, 9)));
        assertThat(OverBudgetReports.of(List.of(gpu(VramFixture.INCIDENT), gpu(other))))
                .as("7726 and 200 MiB, in steps of 128; 127 MiB are less than a step")
                .isEqualTo(VramCodec.overBudget(Map.of("immich-ml", 7808L)));
    }

    @Test
    void unknownTenantsMakeTheReportUnknown() {
        Reading<List<Tenant>> absent = Reading.absent(Absence.FAILED, 0, "the driver does not answer");
        assertThat(OverBudgetReports.of(List.of(gpu(VramFixture.INCIDENT), gpu(absent))))
                .isEqualTo(VramCodec.overBudgetUnknown());
        assertThat(OverBudgetReports.of(List.of())).isEqualTo(VramCodec.overBudgetUnknown());
    }
}
