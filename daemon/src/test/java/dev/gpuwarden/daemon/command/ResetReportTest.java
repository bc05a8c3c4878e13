package dev.gpuwarden.daemon.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.daemon.reset.GpuReset;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ResetReportTest {

    private static final ResetTargets NONE = new ResetTargets(List.of());

    private static String text(ResetReport report) {
        StringWriter text = new StringWriter();
        PrintWriter out = new PrintWriter(text);
        report.print(out);
        out.flush();
        return text.toString();
    }

    @Test
    void dryRunNamesWhatAnEarlierResetHasLeftOff() {
        Reading<ResetNode.Before> unused = Reading.of(new ResetNode.Before(false, List.of()));
        assertThat(text(ResetReport.plan(NONE, "nvidia-smi", unused, Reading.of(Set.of()))))
                .doesNotContain(GpuReset.EARLIER);
        assertThat(text(ResetReport.plan(NONE, "nvidia-smi", unused, Reading.of(Set.of("GPU-b", "GPU-a")))))
                .contains(GpuReset.EARLIER, "nvidia-smi -pm 1 for GPU-a, GPU-b, which a reset that was killed");
        assertThat(text(ResetReport.restorePlan(Reading.absent(Absence.FAILED, 0, "record: seen no JSON object"))))
                .contains("the reset fails: record: seen no JSON object", "Nothing was changed");
        assertThat(text(ResetReport.restorePlan(Reading.of(Set.of())))).contains("no reset has left it off");
    }

    @Test
    void dryRunNamesWhatMustEndBeforeTheReset() {
        assertThat(planned(true)).contains("free, but for gpuwarden itself (it lets go first)");
        assertThat(planned(false)).contains("no process holds the GPUs now");
        assertThat(planned(true, "process 7 (job)")).contains("  the reset fails while held by process 7 (job)");
        assertThat(planned(false, "process 7 (job)"))
                .contains("the daemon excepted, the reset fails while held by process 7 (job)");
    }

    private static String planned(boolean daemon, String... others) {
        Reading<ResetNode.Before> holders = Reading.of(new ResetNode.Before(daemon, List.of(others)));
        return text(ResetReport.plan(NONE, "nvidia-smi", holders, Reading.of(Set.of())));
    }

    @Test
    void restoreHasOneLineForTheLog() {
        assertThat(ResetReport.of(NONE, new GpuReset.Outcome(true, List.of())).text())
                .isEqualTo("persistence mode: no reset has left it off");
        GpuReset.Step failed = new GpuReset.Step(GpuReset.EARLIER, false, "GPU-a: no", Duration.ZERO);
        assertThat(ResetReport.of(NONE, new GpuReset.Outcome(false, List.of(failed)))
                        .text())
                .isEqualTo("persistence mode: persistence-earlier failed: GPU-a: no");
    }
}
