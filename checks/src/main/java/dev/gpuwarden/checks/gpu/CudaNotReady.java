package dev.gpuwarden.checks.gpu;

import dev.gpuwarden.checks.LastingState;
import dev.gpuwarden.core.check.CheckContext;
import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Outcome;
import java.time.Duration;
import java.util.List;

/**
 * GPUs on which CUDA returns 802, system not ready (cuda.h 13.0, CUDA_ERROR_SYSTEM_NOT_READY), instead of starting. At first that is
 * no fault: Fabric Manager may be starting. If it lasts, no program can use the GPU.
 *
 * <p>CONTACT_SUPPORT, since a reboot does not install or enable Fabric Manager.
 */
public final class CudaNotReady {

    static final String CODE = "cuda-not-ready";
    static final String TEXT = "expected CUDA to start: ";

    /** The registration with the fabric may take as long. */
    static final Duration LONGEST = Duration.ofMinutes(10);

    private CudaNotReady() {}

    /** Returns the findings of a run of a check, in which those that last have failed. Keeps the time by GPU in the check's notes. */
    public static List<Finding> judged(List<Finding> findings, CheckContext context, CheckInfo check) {
        return findings.stream().map(finding -> judged(finding, context, check)).toList();
    }

    private static Finding judged(Finding finding, CheckContext context, CheckInfo check) {
        String label = finding.subject().label();
        if (finding.outcome() != Outcome.UNKNOWN || !finding.code().equals(CODE)) {
            if (finding.outcome() != Outcome.SKIPPED) {
                LastingState.over(context.notes(), CODE + " " + label);
            }
            return finding;
        }
        Duration lasts = LastingState.seen(context.notes(), CODE + " " + label, context.now(), check.every());
        if (lasts.compareTo(LONGEST) < 0 || context.young().isPresent()) {
            return finding;
        }
        return new Finding(
                Outcome.FAIL,
                CODE,
                finding.subject(),
                finding.message() + "; for " + lasts.toMinutes() + " minutes no CUDA program could start on it",
                finding.remedy(),
                RecommendedAction.CONTACT_SUPPORT,
                finding.evidence());
    }
}
