package dev.gpuwarden.daemon.command;

import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Outcome;
import dev.gpuwarden.core.model.Identifiers;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import dev.gpuwarden.core.telemetry.GpuState;
import dev.gpuwarden.daemon.reset.ResettableNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The verdict of the checks on GPUs after their reset. Pure. */
final class ResetVerification {

    /** "Since the last driver load" in the driver's documentation, which a reset begins again (nvml.h, nvmlMemoryErrorType_t). */
    private static final List<GpuMetric> SINCE_RESET =
            List.of(GpuMetric.ECC_VOLATILE_UNCORRECTED, GpuMetric.ECC_VOLATILE_CORRECTED);

    private final List<String> defects = new ArrayList<>();
    private final List<String> skipped = new ArrayList<>();
    private final List<String> undecided = new ArrayList<>();
    private final List<String> warned = new ArrayList<>();
    private final List<String> unproven = new ArrayList<>();
    private int passed;

    private ResetVerification() {}

    /**
     * Returns the defects of these GPUs, and the checks of them that neither passed nor failed, by name.
     *
     * @param before the node before the reset
     * @param gpus the node after the reset
     * @param faults of the kernel log since the reset
     */
    static ResettableNode.Verified of(
            List<GpuSnapshot> before,
            List<GpuSnapshot> gpus,
            List<CheckResult> results,
            List<Fault> faults,
            List<String> uuids) {
        ResetVerification verdict = new ResetVerification();
        for (String uuid : uuids) {
            Optional<GpuSnapshot> gpu = find(gpus, uuid);
            if (gpu.isEmpty()) {
                verdict.defects.add("GPU " + uuid + " is not listed by the driver");
            } else {
                verdict.add(gpu.get(), results);
                verdict.add(gpu.get(), faults, uuid);
                find(before, uuid).ifPresent(old -> verdict.compare(old, gpu.get()));
            }
        }
        return new ResettableNode.Verified(
                verdict.defects,
                verdict.text(),
                verdict.unproven.isEmpty() ? Optional.empty() : Optional.of(String.join("; ", verdict.unproven)));
    }

    private static Optional<GpuSnapshot> find(List<GpuSnapshot> gpus, String uuid) {
        return gpus.stream()
                .filter(seen -> seen.identity()
                        .uuid()
                        .asOptional()
                        .filter(Identifiers.gpu(uuid)::equals)
                        .isPresent())
                .findFirst();
    }

    /** A reset begins these counters at zero, so one that has not fallen shows that there was none. */
    private void compare(GpuSnapshot before, GpuSnapshot after) {
        for (GpuMetric counter : SINCE_RESET) {
            if (before.frame().present(counter) && after.frame().present(counter)) {
                long old = before.frame().raw(counter);
                long now = after.frame().raw(counter);
                if (old > 0 && now >= old) {
                    unproven.add("expected " + counter + " of "
                            + after.identity().label() + " to begin at 0 after a reset, seen " + now + " as before");
                }
            }
        }
    }

    private void add(GpuSnapshot gpu, List<Fault> faults, String uuid) {
        for (Fault fault : faults) {
            boolean same = fault.cause().entities().stream()
                    .anyMatch(part -> part.equals(Entity.gpu(uuid))
                            || gpu.identity()
                                    .pci()
                                    .asOptional()
                                    .map(Entity::pci)
                                    .filter(part::equals)
                                    .isPresent());
            String text = gpu.identity().label() + " reported " + fault.cause().checkName() + " "
                    + fault.key().errorCode() + " since the reset: "
                    + fault.cause().message();
            if (same && fault.cause().fatal() && !defects.contains(text)) {
                defects.add(text);
            }
        }
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
