package dev.gpuwarden.aggregator.drain;

import dev.gpuwarden.aggregator.client.JsonTrees;
import dev.gpuwarden.cli.Durations;
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
 * What a drain needs to know of a pod.
 *
 * @param created by the API server's clock; empty where it does not say
 * @param owner kind of the controller that would start it again, as `ReplicaSet`; empty where there is none
 * @param ownerUid of that controller
 * @param mirror whether its node's own files say that it runs there
 * @param emptyDir whether it has files that end with it
 * @param deleted by when it should be gone, its grace included; empty while nobody has asked for that
 * @param ended whether none of its containers runs any more, and none will
 * @param notReadySince empty where it is ready, or nothing tells
 * @param wantsGpu whether it asks for a GPU in any way that Kubernetes knows
 * @param gpuService whether it is a service for GPUs that NVIDIA's operator has on nodes, and stops itself for a reset
 * @param devices what it has got, by the device plugin's names; empty where not all of it is told
 * @param checkpoint how its work can be saved before its end; empty where it does not say
 * @param exited when the last of its containers had ended, though they may have been started again; empty where one has not
 * @param taken when its kubelet took it, which is when it was given its devices; in whole seconds, empty while it has not
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
        boolean gpuService,
        Optional<Set<String>> devices,
        Optional<Checkpoint> checkpoint,
        Optional<Instant> exited,
        Optional<Instant> taken) {

    private static final String MIRROR = "kubernetes.io/config.mirror";
    private static final String GPUS = "nvidia.com/";
    /** Labels by which the GPU operator chooses the nodes of its DaemonSets, and takes them off before a reset. */
    private static final String SERVICES = "nvidia.com/gpu.deploy.";

    /** `NAMESPACE/NAME`. */
    public String path() {
        return namespace + "/" + name;
    }

    public static PodView of(Map<String, Object> tree) {
        Map<String, Object> metadata = JsonTrees.object(tree, "metadata");
        Map<String, Object> spec = JsonTrees.object(tree, "spec");
        Map<String, Object> status = JsonTrees.object(tree, "status");
        Map<String, String> annotations = JsonTrees.texts(metadata, "annotations");
        List<Map<String, Object>> asking = asking(spec);
        Map<String, Object> owner = JsonTrees.objects(metadata, "ownerReferences").stream()
                .filter(each -> JsonTrees.isTrue(each, "controller"))
                .findFirst()
                .orElse(Map.of());
        Optional<Instant> deleted = time(JsonTrees.text(metadata, "deletionTimestamp"));
        return new PodView(
                JsonTrees.text(metadata, "namespace"),
                JsonTrees.text(metadata, "name"),
                JsonTrees.text(metadata, "uid"),
                JsonTrees.texts(metadata, "labels"),
                time(JsonTrees.text(metadata, "creationTimestamp")),
                JsonTrees.text(owner, "kind"),
                JsonTrees.text(owner, "uid"),
                annotations.containsKey(MIRROR),
                JsonTrees.objects(spec, "volumes").stream().anyMatch(volume -> volume.containsKey("emptyDir")),
                deleted,
                ended(status, deleted.isPresent()),
                notReady(status),
                JsonTrees.textList(metadata, "finalizers"),
                !asking.isEmpty(),
                JsonTrees.object(spec, "nodeSelector").keySet().stream().anyMatch(key -> key.startsWith(SERVICES)),
                devices(asking, status),
                Checkpoint.of(annotations),
                exited(status),
                time(JsonTrees.text(status, "startTime")));
    }

    // ---- its end ----

    /** One that is being deleted has ended with its containers, though finalizers may keep the object. */
    private static boolean ended(Map<String, Object> status, boolean deleted) {
        String phase = JsonTrees.text(status, "phase");
        if (phase.equals("Succeeded") || phase.equals("Failed")) {
            return true;
        }
        List<Map<String, Object>> main = JsonTrees.objects(status, "containerStatuses");
        return deleted
                && !main.isEmpty()
                && main.stream().allMatch(container -> in(container, "terminated"))
                && JsonTrees.objects(status, "initContainerStatuses").stream()
                        .noneMatch(container -> in(container, "running"));
    }

    private static boolean in(Map<String, Object> container, String state) {
        return JsonTrees.object(container, "state").containsKey(state);
    }

    private static Optional<Instant> exited(Map<String, Object> status) {
        List<Optional<Instant>> ends = JsonTrees.objects(status, "containerStatuses").stream()
                .map(container -> end(container, "state").or(() -> end(container, "lastState")))
                .toList();
        return ends.stream().allMatch(Optional::isPresent)
                ? ends.stream().flatMap(Optional::stream).max(Instant::compareTo)
                : Optional.empty();
    }

    private static Optional<Instant> end(Map<String, Object> container, String state) {
        return time(JsonTrees.text(JsonTrees.object(JsonTrees.object(container, state), "terminated"), "finishedAt"));
    }

    private static Optional<Instant> notReady(Map<String, Object> status) {
        return JsonTrees.objects(status, "conditions").stream()
                .filter(condition -> JsonTrees.text(condition, "type").equals("Ready"))
                .filter(condition -> !JsonTrees.text(condition, "status").equals("True"))
                .flatMap(condition -> time(JsonTrees.text(condition, "lastTransitionTime")).stream())
                .findFirst();
    }

    private static Optional<Instant> time(String text) {
        try {
            return text.isEmpty() ? Optional.empty() : Optional.of(Instant.parse(text));
        } catch (DateTimeException e) {
            return Optional.empty();
        }
    }

    // ---- its GPUs ----

    /** Containers that ask for GPUs. One that runs before the others has given its own back. */
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
        names.removeIf(name -> !name.startsWith(GPUS));
        return names;
    }

    private static List<String> claims(Map<String, Object> container) {
        return JsonTrees.objects(JsonTrees.object(container, "resources"), "claims").stream()
                .map(claim -> JsonTrees.text(claim, "name"))
                .toList();
    }

    /** What kubelets tell of it since Kubernetes 1.36, or earlier where ResourceHealthStatus is switched on. */
    private static Optional<Set<String>> devices(List<Map<String, Object>> asking, Map<String, Object> status) {
        Set<String> devices = new HashSet<>();
        for (Map<String, Object> container : asking) {
            List<Map<String, Object>> told = Stream.of("containerStatuses", "initContainerStatuses")
                    .flatMap(field -> JsonTrees.objects(status, field).stream())
                    .filter(is -> JsonTrees.text(is, "name").equals(JsonTrees.text(container, "name")))
                    .flatMap(is -> JsonTrees.objects(is, "allocatedResourcesStatus").stream())
                    .toList();
            Stream<String> wanted = Stream.concat(
                    resources(container).stream(), claims(container).stream().map(claim -> "claim:" + claim));
            if (!wanted.allMatch(name -> told.stream().anyMatch(is -> names(is, name)))) {
                return Optional.empty();
            }
            told.stream()
                    .flatMap(is -> JsonTrees.objects(is, "resources").stream())
                    .forEach(device -> devices.add(JsonTrees.text(device, "resourceID")));
        }
        return Optional.of(devices);
    }

    /** Of a claim each request may be told apart, as `claim:NAME/REQUEST`. */
    private static boolean names(Map<String, Object> told, String wanted) {
        String name = JsonTrees.text(told, "name");
        return (name.equals(wanted) || wanted.startsWith("claim:") && name.startsWith(wanted + "/"))
                && !JsonTrees.objects(told, "resources").isEmpty();
    }

    /**
     * What a pod's annotations say of its work: that it can be saved, on a signal, in so much time.
     *
     * @param signal as `SIGUSR1`; the node decides which it knows
     * @param grace how long that takes
     * @param odd what was said of it and could not be read; empty where nothing was
     * @param saved what the pod says of it itself, a time if it is as it should be; empty where it says nothing
     */
    record Checkpoint(String signal, Duration grace, Optional<String> odd, String saved) {

        static final String SIGNAL = "gpuwarden.dev/checkpoint-signal";
        static final String GRACE = "gpuwarden.dev/checkpoint-grace";
        static final String SAVED = "gpuwarden.dev/checkpointed";

        private static final Duration USUAL = Duration.ofMinutes(5);

        /** Empty where the pod wants no signal. */
        static Optional<Checkpoint> of(Map<String, String> annotations) {
            String signal = annotations.getOrDefault(SIGNAL, "").strip();
            if (signal.isEmpty()) {
                return Optional.empty();
            }
            String text = annotations.getOrDefault(GRACE, "").strip();
            Optional<Duration> grace = Durations.find(text);
            Optional<String> odd = text.isEmpty() || grace.isPresent()
                    ? Optional.empty()
                    : Optional.of(GRACE + " is no duration such as 5m: " + text);
            return Optional.of(new Checkpoint(
                    signal,
                    grace.orElse(USUAL),
                    odd.map(DrainAnnotation::cut),
                    annotations.getOrDefault(SAVED, "").strip()));
        }

        /** Whether it has been saved since it was told to; a time before that is of another occasion. */
        boolean savedSince(Instant told) {
            if (saved.isEmpty()) {
                return false;
            }
            try {
                return !Instant.parse(saved).isBefore(told.truncatedTo(ChronoUnit.SECONDS));
            } catch (DateTimeException e) {
                return true;
            }
        }
    }
}
