package dev.gpuwarden.daemon.vram.kube;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.api.v1.BudgetedPod;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import java.util.Map;
import org.junit.jupiter.api.Test;

class GpuAllocationTest {

    private Reading<Pods> pods = list("a");
    private int gpus = 2;
    private long now;
    private int asked;

    private final GpuAllocation allocation = new GpuAllocation(
            () -> pods,
            () -> {
                asked++;
                return Reading.absent(Absence.FAILED, 0, "answer " + asked);
            },
            () -> gpus,
            () -> now);

    private static Reading<Pods> list(String uid) {
        return Reading.of(new Pods(Map.of(uid, BudgetedPod.getDefaultInstance())));
    }

    private int looks() {
        allocation.look();
        return asked;
    }

    @Test
    void theKubeletIsAskedAfterEachNewListAndEveryTenSeconds() {
        assertThat(looks()).isEqualTo(1);
        assertThat(looks()).isEqualTo(1);
        pods = list("b");
        assertThat(looks()).isEqualTo(2);
        now = 10_000_000_000L;
        assertThat(looks()).isEqualTo(3);
        assertThat(allocation.get()).isEqualTo(Reading.absent(Absence.FAILED, 0, "answer 3"));
    }

    @Test
    void theKubeletIsNotAskedWithoutBudgetsOrWithOneGpu() {
        gpus = 1;
        assertThat(looks()).isZero();
        gpus = 2;
        pods = Reading.of(new Pods(Map.of()));
        assertThat(looks()).isZero();
        pods = Reading.absent(Absence.PENDING);
        assertThat(looks()).isZero();
    }
}
