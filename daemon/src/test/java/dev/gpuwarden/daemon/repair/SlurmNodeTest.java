package dev.gpuwarden.daemon.repair;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Lines as {@code scontrol show node --oneliner} of Slurm 22.05 prints them. */
class SlurmNodeTest {

    private static SlurmNode.State state(String state, String reason) {
        return SlurmNode.State.of("NodeName=gpu-1 Arch=x86_64 CoresPerSocket=1 CPUAlloc=0 State=" + state
                        + " ThreadsPerCore=1 TmpDisk=0 Weight=1 Partitions=main " + reason)
                .orElseThrow();
    }

    @Test
    void onlyADrainWithThisProgramsReasonIsOurs() {
        SlurmNode.State ours = state("IDLE+DRAIN", "Reason=gpuwarden: reset of GPU-5a19 [root@2026-11-27T10:00:00]");
        assertThat(ours.isOurs()).isTrue();
        assertThat(ours.isUsed()).isFalse();
        assertThat(ours.reason()).isEqualTo("gpuwarden: reset of GPU-5a19");
        SlurmNode.State other = state("IDLE+DRAIN", "Reason=disk [root@2026-11-27T10:00:00]");
        assertThat(other.drains()).isTrue();
        assertThat(other.isOurs()).isFalse();
        assertThat(state("IDLE", "Reason=gpuwarden: old [root@2026-11-27T10:00:00]")
                        .isOurs())
                .as("it does not drain any more")
                .isFalse();
    }

    @Test
    void jobsUseANodeUntilTheyHaveEnded() {
        assertThat(state("MIXED+DRAIN", "").isUsed()).isTrue();
        assertThat(state("ALLOCATED+DRAIN", "").isUsed()).isTrue();
        assertThat(state("IDLE+COMPLETING+DRAIN", "").isUsed()).isTrue();
        assertThat(state("DOWN*+DRAIN", "").isUsed()).isFalse();
        assertThat(state("DOWN*+DRAIN", "").drains()).isTrue();
    }

    @Test
    void anAnswerWithoutAStateIsNone() {
        assertThat(SlurmNode.State.of("Node gpu-1 not found")).isEmpty();
    }
}
