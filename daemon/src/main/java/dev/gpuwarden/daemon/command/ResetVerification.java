package dev.gpuwarden.daemon.command;

import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Outcome;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import dev.gpuwarden.core.telemetry.GpuState;
import dev.gpuwarden.daemon.reset.GpuReset;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The verdict of the checks on GPUs after their reset. Pure. */
final class ResetVerification {

    private final List<String> defects = new ArrayList<>();
    private final List<String> skipped = new ArrayList<>();
    private final List<String> undecided = new ArrayList<>();
    private final List<String> warned = new ArrayList<>();
    private int passed;

    private ResetVerification() {}

    /**
     * Returns the defects of these GPUs, and the checks of them that neither passed nor failed, by name.
     *
     * @param gpus the node after the reset
     */
    static GpuReset.Verified of(List<GpuSnapshot> gpus, List<CheckResult> results, List<String> uuids) {
        ResetVerification verdict = new ResetVerification();
        for (String uuid : uuids) {
            Optional<GpuSnapshot> gpu = gpus.stream()
                    .filter(seen -> seen.identity()
                            .uuid()
                            .asOptional()
                            .filter(uuid::equalsIgnoreCase)
                            .isPresent())
                    .findFirst();
            if (gpu.isEmpty()) {
                verdict.defects.add("GPU " + uuid + " is not listed by the driver");
            } else {
                verdict.add(gpu.get(), results);
            }
        }
        return new GpuReset.Verified(verdict.defects, verdict.text());
    }

    private void add(GpuSnapshot gpu, List<CheckResult> results) {
        String label = gpu.identity().label();
        if (gpu.state() != GpuState.ANSWERING) {
            defects.add(label + " is " + gpu.state().label() + " " + gpu.detail());
            return;
        }
        for (CheckResult result : results) {
            result.findings().stream()
                    .filter(finding -> finding.subject().label().equals(label))
                    .forEach(finding -> add(result.check().id(), finding));
        }
    }

    private void add(String check, Finding finding) {
        if (finding.outcome() == Outcome.PASS) {
            passed++;
            return;
        }
        List<String> names = switch (finding.outcome()) {
            case FAIL -> defects;
            case UNKNOWN -> undecided;
            case WARN -> warned;
            default -> skipped;
        };
        String name = check + " (" + finding.code() + ")";
        String text = finding.outcome() == Outcome.FAIL ? finding.message() : name;
        if (!names.contains(text)) {
            names.add(text);
        }
    }

    private String text() {
        return passed + " passed" + list("with a warning", warned) + list("undecided", undecided)
                + list("skipped", skipped);
    }

    private static String list(String title, List<String> names) {
        return names.isEmpty() ? "" : "; " + title + ": " + String.join(", ", names);
    }
}
