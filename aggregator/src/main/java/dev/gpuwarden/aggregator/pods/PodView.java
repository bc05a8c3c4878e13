package dev.gpuwarden.aggregator.pods;

import dev.gpuwarden.aggregator.maintenance.ServiceLabels;
import dev.gpuwarden.api.kube.PodFacts;
import dev.gpuwarden.cli.Durations;
import dev.gpuwarden.core.holder.GpuResource;
import dev.gpuwarden.core.model.Identifiers;
import dev.gpuwarden.core.util.JsonTrees;
import dev.gpuwarden.core.util.Text;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The properties of a pod that a drain needs.
 *
 * @param created creation by the API server's clock; empty if the object has none
 * @param owner kind of the controller that would start the pod again, such as `ReplicaSet`; empty if there is none
 * @param ownerUid UID of that controller
 * @param mirror true for a mirror pod, which the kubelet starts from a file of its node
 * @param emptyDir true if the pod has files that end with it
 * @param deleted deadline of the requested end, grace period included; empty if no deletion was requested
 * @param ended true if none of its containers runs any more, and none will
 * @param notReadySince start of the time in which the pod is not ready; empty if it is ready, or the status has no such time
 * @param wantsGpu true if the pod requests a GPU in any way that Kubernetes supports
 * @param services labels whose removal ends the pod, because it is a service that a reset stops; empty for others
 * @param devices names of the pod's devices, as the device plugin names them; empty if the status is not complete
 * @param checkpoint way to save the pod's work before its end; empty if the pod requests no signal
 * @param exited end of the last of its containers, also if they were started again; empty if one has not ended yet
 * @param taken time in whole seconds at which the kubelet accepted the pod, and gave it its devices; empty before
 */
public record PodView(
        String namespace,
        String name,
        String uid,
        Map<String, String> labels,
        Optional<Instant> created,
        String owner,
        String ownerUid,
        boolean mirror,
        boolean emptyDir,
        Optional<Instant> deleted,
        boolean ended,
        Optional<Instant> notReadySince,
        List<String> finalizers,
        boolean wantsGpu,
        Set<String> services,
        Optional<Set<String>> devices,
        Optional<Checkpoint> checkpoint,
        Optional<Instant> exited,
        Optional<Instant> taken) {

    /** Returns `NAMESPACE/NAME`. */
    public String path() {
        return namespace + "/" + name;
    }

    public static PodView of(Map<String, Object> tree) {
        Map<String, Object> metadata = JsonTrees.object(tree, "metadata");
        Map<String, Object> spec = JsonTrees.object(tree, "spec");
        Map<String, Object> status = JsonTrees.object(tree, "status");
        Map<String, String> annotations = JsonTrees.texts(metadata, "annotations");
        List<Map<String, Object>> asking = asking(spec);
        PodFacts facts = PodFacts.of(tree);
        return new PodView(
                facts.namespace(),
                facts.name(),
                facts.uid(),
                facts.labels(),
                JsonTrees.time(metadata, "creationTimestamp"),
                facts.owner(),
                facts.ownerUid(),
                facts.mirror(),
                JsonTrees.objects(spec, "volumes").stream().anyMatch(volume -> volume.containsKey("emptyDir")),
                facts.deleted(),
                facts.ended(),
                notReady(status),
                JsonTrees.textList(metadata, "finalizers"),
                !asking.isEmpty(),
                ServiceLabels.of(facts.owner(), !asking.isEmpty(), JsonTrees.texts(spec, "nodeSelector")),
                devices(asking, status),
                Checkpoint.of(annotations),
                exited(status),
                facts.taken());
    }

    /** Returns false for a pod of a DaemonSet or of the node itself, which would come again. */
    public boolean canLeave() {
        return !owner.equals("DaemonSet") && !mirror;
    }

    // ---- its end ----

    private static Optional<Instant> exited(Map<String, Object> status) {
        List<Optional<Instant>> ends = JsonTrees.objects(status, "containerStatuses").stream()
                .map(container -> end(container, "state").or(() -> end(container, "lastState")))
                .toList();
        return ends.stream().allMatch(Optional::isPresent)
                ? ends.stream().flatMap(Optional::stream).max(Instant::compareTo)
                : Optional.empty();
    }

    private static Optional<Instant> end(Map<String, Object> container, String state) {
        return JsonTrees.time(JsonTrees.object(JsonTrees.object(container, state), "terminated"), "finishedAt");
    }

    private static Optional<Instant> notReady(Map<String, Object> status) {
        return JsonTrees.objects(status, "conditions").stream()
                .filter(condition -> JsonTrees.text(condition, "type").equals("Ready"))
                .filter(condition -> !JsonTrees.text(condition, "status").equals("True"))
                .flatMap(condition -> JsonTrees.time(condition, "lastTransitionTime").stream())
                .findFirst();
    }

    // ---- its GPUs ----

    /** Returns the containers that request GPUs. An init container that has ended has given its own back. */
    private static List<Map<String, Object>> asking(Map<String, Object> spec) {
        return Stream.concat(
                        JsonTrees.objects(spec, "containers").stream(),
                        JsonTrees.objects(spec, "initContainers").stream())
                .filter(container ->
                        !resources(container).isEmpty() || !claims(container).isEmpty())
                .toList();
    }

    private static Set<String> resources(Map<String, Object> container) {
        Map<String, Object> resources = JsonTrees.object(container, "resources");
        Set<String> names = new HashSet<>(JsonTrees.object(resources, "limits").keySet());
        names.addAll(JsonTrees.object(resources, "requests").keySet());
        names.removeIf(name -> !GpuResource.mayBeGpu(name));
        return names;
    }

    private static List<String> claims(Map<String, Object> container) {
        return JsonTrees.objects(JsonTrees.object(container, "resources"), "claims").stream()
                .map(claim -> JsonTrees.text(claim, "name"))
                .toList();
    }

    /** Returns the devices that kubelets report since Kubernetes 1.36, or earlier if ResourceHealthStatus is enabled. */
    private static Optional<Set<String>> devices(List<Map<String, Object>> asking, Map<String, Object> status) {
        Set<String> devices = new HashSet<>();
        for (Map<String, Object> container : asking) {
            List<Map<String, Object>> statuses = Stream.of("containerStatuses", "initContainerStatuses")
                    .flatMap(field -> JsonTrees.objects(status, field).stream())
                    .filter(is -> JsonTrees.text(is, "name").equals(JsonTrees.text(container, "name")))
                    .flatMap(is -> JsonTrees.objects(is, "allocatedResourcesStatus").stream())
                    .toList();
            Stream<String> wanted = Stream.concat(
                    resources(container).stream(), claims(container).stream().map(claim -> "claim:" + claim));
            if (!wanted.allMatch(name -> statuses.stream().anyMatch(is -> names(is, name)))) {
                return Optional.empty();
            }
            statuses.stream()
                    .flatMap(is -> JsonTrees.objects(is, "resources").stream())
                    .forEach(device -> devices.add(Identifiers.gpu(JsonTrees.text(device, "resourceID"))));
        }
        return Optional.of(devices);
    }

    /**
     * Returns true if the status names the devices of a resource. Each request of a claim can have an entry, as
     * `claim:NAME/REQUEST`.
     */
    private static boolean names(Map<String, Object> status, String wanted) {
        String name = JsonTrees.text(status, "name");
        return (name.equals(wanted) || wanted.startsWith("claim:") && name.startsWith(wanted + "/"))
                && !JsonTrees.objects(status, "resources").isEmpty();
    }

    /**
     * The annotations by which a pod requests a signal and time to save its work.
     *
     * @param signal name of the signal, such as `SIGUSR1`; the node decides which names it supports
     * @param grace time that the pod needs to save its work
     * @param odd description of an annotation that cannot be read; empty if there is none
     * @param saved value that the pod has set after it saved its work, usually a timestamp; empty if it has set none
     */
    public record Checkpoint(String signal, Duration grace, Optional<String> odd, String saved) {

        public static final String SIGNAL = "gpuwarden.dev/checkpoint-signal";
        public static final String GRACE = "gpuwarden.dev/checkpoint-grace";
        public static final String SAVED = "gpuwarden.dev/checkpointed";

        private static final Duration USUAL = Duration.ofMinutes(5);
        private static final int LONGEST = 200;

        /** Returns the request of a pod; empty if it requests no signal. */
        static Optional<Checkpoint> of(Map<String, String> annotations) {
            String signal = annotations.getOrDefault(SIGNAL, "").strip();
            if (signal.isEmpty()) {
                return Optional.empty();
            }
            String text = annotations.getOrDefault(GRACE, "").strip();
            Optional<Duration> grace = Durations.find(text);
            Optional<String> odd = text.isEmpty() || grace.isPresent()
                    ? Optional.empty()
                    : Optional.of(Text.truncate(GRACE + " is no duration such as 5m: " + text, LONGEST));
            return Optional.of(new Checkpoint(
                    signal,
                    grace.orElse(USUAL),
                    odd,
                    annotations.getOrDefault(SAVED, "").strip()));
        }

        /**
         * Returns true if the pod reports that it has saved its work since the signal. An earlier timestamp belongs to another
         * signal.
         */
        public boolean savedSince(Instant signalled) {
            if (saved.isEmpty()) {
                return false;
            }
            try {
                return !Instant.parse(saved).isBefore(signalled.truncatedTo(ChronoUnit.SECONDS));
            } catch (DateTimeException e) {
                return true;
            }
        }
    }
}
