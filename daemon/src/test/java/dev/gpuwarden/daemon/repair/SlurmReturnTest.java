package dev.gpuwarden.daemon.repair;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.checks.child.ProgramRunner;
import dev.gpuwarden.daemon.repair.RepairAttempt.Kind;
import dev.gpuwarden.daemon.repair.RepairAttempt.Outcome;
import dev.gpuwarden.daemon.repair.RepairAttempt.Step;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SlurmReturnTest {

    @TempDir
    Path folder;

    private final List<String> updates = new ArrayList<>();
    private int resumeEnds = 1;

    private RepairLog drained() throws IOException {
        RepairLog log = RepairLog.open(folder.resolve("repairs.jsonl"), Clock.systemUTC());
        RepairAttempt attempt = log.begin(Kind.RESET, Set.of("GPU-a"), "xid 48", "boot");
        log.intend(attempt, RepairAttempt.DRAIN, "gpu-1", "requested");
        log.end(attempt, Outcome.SUCCEEDED, "1 passed");
        return log;
    }

    private SlurmReturn slurmReturn(RepairLog log) {
        ProgramRunner programs = (command, at, environment, timeout, stop) -> {
            if (command.contains("show")) {
                return RepairWorld.exit(
                        0, "NodeName=gpu-1 State=IDLE+DRAIN Reason=gpuwarden: reset of GPU-a [root@now]");
            }
            updates.add(command.get(command.size() - 1));
            return RepairWorld.exit(resumeEnds, "");
        };
        return new SlurmReturn(new SlurmNode("gpu-1", programs), log, Clock.systemUTC());
    }

    private static List<Boolean> resumes(RepairLog log) {
        return log.attempts().get(0).steps().stream()
                .filter(step -> step.name().equals(RepairAttempt.RESUME))
                .map(Step::done)
                .toList();
    }

    @Test
    void aResumeThatKeepsFailingHasOneIntentInTheRecord() throws Exception {
        RepairLog log = drained();
        SlurmReturn slurm = slurmReturn(log);
        for (int turn = 0; turn < 3; turn++) {
            slurm.resume(() -> false);
        }
        assertThat(updates).containsExactly("State=RESUME", "State=RESUME", "State=RESUME");
        assertThat(resumes(log)).containsExactly(false);
        assertThat(log.drained()).isTrue();
        resumeEnds = 0;
        slurm.resume(() -> false);
        assertThat(resumes(log)).containsExactly(false, true);
        assertThat(log.drained()).isFalse();
    }
}
