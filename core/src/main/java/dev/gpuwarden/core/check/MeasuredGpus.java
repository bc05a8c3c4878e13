package dev.gpuwarden.core.check;

import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Outcome;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The GPUs that checks with a load measured, and those that they left out. A GPU that is in use is skipped, which is no evidence of
 * health: a result without it is no result of the node. Pure.
 *
 * @param gpus the number of GPUs that these checks had to measure; 0 if none ran
 * @param missing the GPUs that at least one of the checks did not measure, by label, each with the reasons
 */
public record MeasuredGpus(int gpus, Map<String, Set<String>> missing) {

    /** Codes of checks that cannot measure anything here, also on a free GPU. Such a check is listed as skipped. */
    private static final Set<String> DO_NOT_APPLY = Set.of("one-gpu", "no-nccl");

    public MeasuredGpus {
        missing = new LinkedHashMap<>(missing);
    }

    /**
     * Returns what was measured.
     *
     * @param withLoad IDs of the checks that give work to GPUs
     */
    public static MeasuredGpus of(List<CheckResult> results, Set<String> withLoad) {
        Map<String, Set<String>> byGpu = new LinkedHashMap<>();
        Set<String> seen = new LinkedHashSet<>();
        for (CheckResult result : results) {
            if (!withLoad.contains(result.check().id())) {
                continue;
            }
            for (Finding finding : result.findings()) {
                String label = finding.subject().label();
                if (finding.subject().entities().stream().noneMatch(MeasuredGpus::isGpu)) {
                    continue;
                }
                boolean skipped = finding.outcome() == Outcome.SKIPPED;
                if (!skipped || !DO_NOT_APPLY.contains(finding.code())) {
                    seen.add(label);
                }
                if (skipped && !DO_NOT_APPLY.contains(finding.code())) {
                    byGpu.computeIfAbsent(label, any -> new LinkedHashSet<>())
                            .add(finding.message().replace(label + ": ", ""));
                }
            }
        }
        return new MeasuredGpus(seen.size(), byGpu);
    }

    private static boolean isGpu(Entity entity) {
        return entity.namesGpu() || entity.type().equals(Entity.GPU_INDEX);
    }

    public boolean complete() {
        return missing.isEmpty();
    }

    /** Returns "1 of 8 GPUs". */
    public String text() {
        return (gpus - missing.size()) + " of " + gpus + (gpus == 1 ? " GPU" : " GPUs");
    }

    /** Returns a line for each reason: "GPU 0, 1, 2: the GPU is not free, held by process 7 (job)". */
    public List<String> reasons() {
        Map<Set<String>, List<String>> byReason = new LinkedHashMap<>();
        missing.forEach((label, why) ->
                byReason.computeIfAbsent(why, any -> new ArrayList<>()).add(label));
        return byReason.entrySet().stream()
                .map(each -> "GPU "
                        + each.getValue().stream()
                                .map(label -> label.replaceFirst("^GPU ", "").replaceFirst(" \\(.*", ""))
                                .collect(Collectors.joining(", "))
                        + ": " + String.join("; ", each.getKey()))
                .toList();
    }
}
