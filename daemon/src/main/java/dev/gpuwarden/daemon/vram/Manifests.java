package dev.gpuwarden.daemon.vram;

import dev.gpuwarden.cli.YamlSection;
import dev.gpuwarden.core.holder.GpuResource;
import dev.gpuwarden.watchdog.budget.PodBudget.Kind;
import dev.gpuwarden.watchdog.budget.Quantity;
import dev.gpuwarden.watchdog.lint.Workload;
import dev.gpuwarden.watchdog.lint.Workload.Container;
import dev.gpuwarden.watchdog.lint.Workload.Pod;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Reads the workloads of Kubernetes manifests: pods, and every object with a template of a pod where Deployments have it. Throws
 * {@link dev.gpuwarden.cli.UserError} with file and line for a value of another form than the API has.
 */
public final class Manifests {

    /** Objects that have the resource and are no workload. */
    private static final Set<String> OTHERS = Set.of("Node", "LimitRange");

    private static final long MOST_GPUS = 1024;

    private final String resource;
    private final List<Workload> workloads = new ArrayList<>();
    private final List<String> unread = new ArrayList<>();

    /** @param resource name of the extended resource */
    public Manifests(String resource) {
        this.resource = resource;
    }

    /** Adds the object of a document. An object without a kind, such as an item of a list from the API server, may be a pod. */
    public void add(YamlSection object) {
        String kind = object.value("kind").orElse("Pod");
        YamlSection metadata = object.section("metadata").orElse(object);
        Optional<YamlSection> spec = object.section("spec");
        Optional<YamlSection> pod =
                kind.equals("Pod") ? spec.filter(of -> of.has("containers")) : spec.flatMap(Manifests::podOfTemplate);
        Workload workload = new Workload(
                object.origin(),
                kind,
                metadata.value("namespace"),
                metadata.value("name").or(() -> metadata.value("generateName")).orElse("without name"),
                spec.map(Manifests::replicas).orElse(1L),
                spec.flatMap(deployment -> surge(kind, deployment)),
                pod.map(this::pod).orElse(new Pod(List.of(), Optional.empty(), Optional.empty(), false)));
        if (pod.isPresent()) {
            workloads.add(workload);
        } else if (object.mentions(resource) && !OTHERS.contains(kind)) {
            unread.add(object.origin() + ": " + workload.label());
        }
    }

    public List<Workload> workloads() {
        return List.copyOf(workloads);
    }

    /** Returns the objects that have the resource in a form that is not read. */
    public List<String> unread() {
        return List.copyOf(unread);
    }

    private static Optional<YamlSection> podOfTemplate(YamlSection spec) {
        return spec.section("jobTemplate")
                .flatMap(job -> job.section("spec"))
                .orElse(spec)
                .section("template")
                .flatMap(template -> template.section("spec"))
                .filter(pod -> pod.has("containers"));
    }

    private static long replicas(YamlSection spec) {
        YamlSection counted =
                spec.section("jobTemplate").flatMap(job -> job.section("spec")).orElse(spec);
        Optional<String> count = counted.value("replicas").or(() -> counted.value("parallelism"));
        return count.filter(text -> text.matches("\\d{1,9}"))
                .map(Long::parseLong)
                .orElse(1L);
    }

    /** Returns the surge of an update with the API server's defaults. */
    private static Optional<String> surge(String kind, YamlSection spec) {
        boolean deployment = kind.equals("Deployment");
        if (!deployment && !kind.equals("DaemonSet")) {
            return Optional.empty();
        }
        Optional<YamlSection> strategy = spec.section(deployment ? "strategy" : "updateStrategy");
        boolean rolling = strategy.flatMap(it -> it.value("type"))
                .map(type -> type.equals("RollingUpdate"))
                .orElse(true);
        Optional<String> surge =
                strategy.flatMap(it -> it.section("rollingUpdate")).flatMap(update -> update.value("maxSurge"));
        return rolling ? surge.or(() -> deployment ? Optional.of("25%") : Optional.empty()) : Optional.empty();
    }

    private Pod pod(YamlSection spec) {
        List<Container> containers = new ArrayList<>();
        boolean usesGpus = !spec.sections("resourceClaims").isEmpty()
                || spec.value("runtimeClassName")
                        .filter(name -> name.contains("nvidia"))
                        .isPresent();
        for (YamlSection container : spec.sections("initContainers")) {
            boolean sidecar =
                    container.value("restartPolicy").filter("Always"::equals).isPresent();
            containers.add(container(container, sidecar ? Kind.SIDECAR : Kind.INIT));
        }
        for (YamlSection container : spec.sections("containers")) {
            containers.add(container(container, Kind.MAIN));
            usesGpus |= container
                    .section("securityContext")
                    .flatMap(security -> security.value("privileged"))
                    .filter("true"::equals)
                    .isPresent();
        }
        Optional<YamlSection> ofPod = spec.section("resources");
        return new Pod(
                containers,
                spec.section("overhead").flatMap(this::quantity),
                quantity(ofPod, "limits").or(() -> quantity(ofPod, "requests")),
                usesGpus);
    }

    private Container container(YamlSection container, Kind kind) {
        Optional<YamlSection> resources = container.section("resources");
        return new Container(
                container.value("name").orElse("without name"),
                kind,
                quantity(resources, "requests"),
                quantity(resources, "limits"),
                resources
                        .flatMap(all -> all.section("limits").or(() -> all.section("requests")))
                        .map(Manifests::gpus)
                        .orElse(0L));
    }

    private Optional<String> quantity(Optional<YamlSection> resources, String part) {
        return resources.flatMap(all -> all.section(part)).flatMap(this::quantity);
    }

    /** The API server ignores blanks around a quantity. */
    private Optional<String> quantity(YamlSection amounts) {
        return amounts.value(resource).map(String::strip);
    }

    private static long gpus(YamlSection amounts) {
        return amounts.keys().stream()
                .filter(GpuResource::isGpu)
                .mapToLong(key -> count(amounts.value(key).orElse("0")))
                .sum();
    }

    private static long count(String text) {
        try {
            return Math.min(MOST_GPUS, Quantity.parse(text.strip()).wholeNumber());
        } catch (IllegalArgumentException e) {
            return 1;
        }
    }
}
