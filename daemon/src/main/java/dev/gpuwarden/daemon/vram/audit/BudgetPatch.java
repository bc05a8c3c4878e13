package dev.gpuwarden.daemon.vram.audit;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.watchdog.budget.PodBudget;
import dev.gpuwarden.watchdog.lint.Workload;
import dev.gpuwarden.watchdog.lint.Workload.Container;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;

/**
 * The proposed budget of a workload as a strategic merge patch, the form that `patches` of a kustomization takes.
 *
 * @param object the patch as a tree; absent with its reason where none can be made
 */
public record BudgetPatch(WorkloadUse use, Reading<Map<String, Object>> object) {

    private static final long MIB = 1L << 20;

    private static final Map<String, String> API_VERSIONS = Map.of(
            "Pod", "v1",
            "Deployment", "apps/v1",
            "StatefulSet", "apps/v1",
            "DaemonSet", "apps/v1",
            "ReplicaSet", "apps/v1",
            "Job", "batch/v1");

    /**
     * Returns one for each workload that held memory, in the order of the uses.
     *
     * @param manifests the objects that may be patched
     * @param resource the extended resource of budgets, in MiB
     */
    public static List<BudgetPatch> of(List<WorkloadUse> uses, List<Workload> manifests, String resource) {
        Map<String, List<WorkloadUse>> byWorkload = new LinkedHashMap<>();
        uses.stream()
                .filter(use -> use.samples() > 0)
                .forEach(use -> byWorkload
                        .computeIfAbsent(use.workload(), name -> new ArrayList<>())
                        .add(use));
        List<BudgetPatch> patches = new ArrayList<>();
        byWorkload.forEach((name, of) -> patches.add(new BudgetPatch(
                of.get(0),
                of.size() > 1
                        ? none("it held memory of " + of.size()
                                + " GPUs, and one number cannot name the amount of each")
                        : object(of.get(0), byWorkload.keySet(), manifests, resource))));
        return patches;
    }

    /** @param all names of the workloads that held memory */
    private static Reading<Map<String, Object>> object(
            WorkloadUse use, Set<String> all, List<Workload> manifests, String resource) {
        List<Workload> found =
                manifests.stream().filter(one -> is(one, use.workload())).toList();
        if (found.size() != 1) {
            return none("expected one manifest of it, seen " + found.size());
        }
        Workload workload = found.get(0);
        if (all.stream().filter(name -> is(workload, name)).count() > 1) {
            return none("its manifest names no namespace, and fits workloads of several");
        }
        String apiVersion = API_VERSIONS.get(workload.kind());
        if (apiVersion == null) {
            return none("a " + workload.kind() + " takes no strategic merge patch");
        }
        return container(workload.pod().containers()).map(container -> {
            Map<String, Object> metadata = new LinkedHashMap<>();
            metadata.put("name", workload.name());
            workload.namespace().ifPresent(namespace -> metadata.put("namespace", namespace));
            Map<String, Object> pod = Map.of("containers", List.of(patch(container, use.proposedBytes(), resource)));
            Map<String, Object> object = new LinkedHashMap<>();
            object.put("apiVersion", apiVersion);
            object.put("kind", workload.kind());
            object.put("metadata", metadata);
            object.put("spec", workload.kind().equals("Pod") ? pod : Map.of("template", Map.of("spec", pod)));
            return object;
        });
    }

    /**
     * A request of an extended resource must equal its limit.
     *
     * @param bytes whole MiB
     */
    private static Map<String, Object> patch(Container container, long bytes, String resource) {
        Map<String, Object> amount = Map.of(resource, Long.toString(bytes / MIB));
        Map<String, Object> resources = new LinkedHashMap<>();
        resources.put("requests", amount);
        resources.put("limits", amount);
        Map<String, Object> patch = new LinkedHashMap<>();
        patch.put("name", container.name());
        patch.put("resources", resources);
        return patch;
    }

    /** Observations name a workload by namespace, kind and name; a manifest may leave the namespace out. */
    private static boolean is(Workload manifest, String observed) {
        String name = manifest.kind() + "/" + manifest.name();
        return manifest.namespace()
                .map(namespace -> observed.equals(namespace + "/" + name))
                .orElseGet(() -> observed.endsWith("/" + name));
    }

    /** The container that has the budget, or the one that has the GPU, or the only one. */
    private static Reading<Container> container(List<Container> all) {
        List<Container> main = all.stream()
                .filter(container -> container.kind() == PodBudget.Kind.MAIN)
                .toList();
        long budgets = all.stream().filter(BudgetPatch::hasBudget).count();
        Optional<Container> chosen = budgets > 0
                ? only(main, BudgetPatch::hasBudget).filter(one -> budgets == 1)
                : only(main, container -> container.gpus() > 0).or(() -> only(main, any -> true));
        return chosen.map(Reading::of)
                .orElseGet(() -> Reading.absent(
                        Absence.NO_DATA,
                        0,
                        budgets > 0
                                ? "its budget is not in one container alone"
                                : "it has " + main.size() + " containers, and not one of them alone has a GPU"));
    }

    private static boolean hasBudget(Container container) {
        return container.limit().or(container::request).isPresent();
    }

    private static Optional<Container> only(List<Container> all, Predicate<Container> wanted) {
        List<Container> found = all.stream().filter(wanted).toList();
        return found.size() == 1 ? Optional.of(found.get(0)) : Optional.empty();
    }

    private static Reading<Map<String, Object>> none(String why) {
        return Reading.absent(Absence.NO_DATA, 0, why);
    }
}
