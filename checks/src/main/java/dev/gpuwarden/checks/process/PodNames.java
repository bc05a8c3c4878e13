package dev.gpuwarden.checks.process;

import dev.gpuwarden.core.limit.Backoff;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.process.Owner;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A lookup that names pods and containers by the folders of the kubelet's logs: `NAMESPACE_NAME_UID/CONTAINER`, and
 * beside it `containers/NAME_NAMESPACE_CONTAINER-ID.log`. It reads names alone, and accepts only names that Kubernetes
 * can assign. It lists the folders again for an unknown UID, not for each query. Not thread-safe.
 */
final class PodNames {

    private static final String LABEL = "([a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)";
    private static final String SUBDOMAIN = "([a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?)";
    private static final Pattern POD =
            Pattern.compile(LABEL + "_" + SUBDOMAIN + "_([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32})");
    private static final Pattern CONTAINER = Pattern.compile(LABEL);
    private static final Pattern CONTAINER_LOG =
            Pattern.compile(SUBDOMAIN + "_" + LABEL + "_" + LABEL + "-([0-9a-f]{64})\\.log");
    /** Far above the number of pods on a node (110 by default). Beyond it names are missing, memory is not. */
    private static final int MAX_ENTRIES = 20_000;

    /**
     * Folders appear within seconds of a container. A UID that is unknown after that stays unknown, and is looked up
     * less and less often.
     */
    private static final Backoff RETRY = Backoff.exact(Duration.ofSeconds(2), Duration.ofSeconds(512));

    private final Path podLogs;
    private final Path containerLogs;
    private final LongSupplier nanoTime;
    private Map<String, PodFolder> podsByUid = Map.of();
    private Map<String, ContainerLog> logsById = Map.of();
    private final Map<String, Retry> unknown = new HashMap<>();
    private boolean readable;
    private boolean logsReadable;

    PodNames(Path podLogs, LongSupplier nanoTime) {
        this.podLogs = podLogs;
        this.containerLogs = podLogs.resolveSibling("containers");
        this.nanoTime = nanoTime;
    }

    /** Returns the same owner with the names that the node has. The kind changes if a container belongs to a pod. */
    Owner name(Owner owner) {
        if (owner instanceof Owner.Pod pod) {
            return name(pod);
        }
        if (owner instanceof Owner.Container container && container.runtime().matches("containerd|cri-o|unknown")) {
            return name(container);
        }
        return owner;
    }

    private Owner.Pod name(Owner.Pod pod) {
        if (!podsByUid.containsKey(pod.uid())) {
            listAgain(pod.uid());
        }
        PodFolder folder = podsByUid.get(pod.uid());
        if (folder == null) {
            Reading<String> none = Reading.absent(
                    Absence.NO_DATA, 0, readable ? "no logs of this pod in " + podLogs : "cannot list " + podLogs);
            return new Owner.Pod(pod.uid(), none, none, none, pod.containerId());
        }
        return new Owner.Pod(
                pod.uid(),
                Reading.of(folder.namespace),
                Reading.of(folder.name),
                container(folder, pod.containerId()),
                pod.containerId());
    }

    private Reading<String> container(PodFolder folder, Reading<String> containerId) {
        if (!(containerId instanceof Reading.Present<String> id)) {
            return containerId;
        }
        if (logsReadable && !logsById.containsKey(id.value())) {
            listAgain(id.value());
        }
        ContainerLog log = logsById.get(id.value());
        if (log != null && log.namespace.equals(folder.namespace) && log.pod.equals(folder.name)) {
            return Reading.of(log.container);
        }
        List<String> containers = containers(folder);
        return containers.size() == 1
                ? Reading.of(containers.get(0))
                : Reading.absent(Absence.NO_DATA, 0, "one of " + containers.size() + " containers");
    }

    private Owner name(Owner.Container container) {
        if (!logsById.containsKey(container.containerId())) {
            listAgain(container.containerId());
        }
        ContainerLog log = logsById.get(container.containerId());
        if (log != null) {
            for (Map.Entry<String, PodFolder> pod : podsByUid.entrySet()) {
                if (pod.getValue().namespace.equals(log.namespace)
                        && pod.getValue().name.equals(log.pod)) {
                    return new Owner.Pod(
                            pod.getKey(),
                            Reading.of(log.namespace),
                            Reading.of(log.pod),
                            Reading.of(log.container),
                            Reading.of(container.containerId()));
                }
            }
        }
        return container;
    }

    private void listAgain(String id) {
        long now = nanoTime.getAsLong();
        Retry last = unknown.get(id);
        if (last != null && now - last.atNanos < RETRY.pause(last.failures).toNanos()) {
            return;
        }
        list();
        if (podsByUid.containsKey(id) || logsById.containsKey(id)) {
            unknown.remove(id);
            return;
        }
        if (unknown.size() >= MAX_ENTRIES) {
            unknown.clear();
        }
        unknown.put(id, new Retry(now, last == null ? 1 : last.failures + 1));
    }

    private void list() {
        Map<String, PodFolder> pods = new HashMap<>();
        readable = list(podLogs, name -> {
            Matcher pod = POD.matcher(name);
            if (pod.matches()) {
                pods.put(pod.group(3), new PodFolder(pod.group(1), pod.group(2), name, new ArrayList<>()));
            }
        });
        Map<String, ContainerLog> logs = new HashMap<>();
        logsReadable = list(containerLogs, name -> {
            Matcher log = CONTAINER_LOG.matcher(name);
            if (log.matches()) {
                logs.put(log.group(4), new ContainerLog(log.group(1), log.group(2), log.group(3)));
            }
        });
        podsByUid = pods;
        logsById = logs;
    }

    private List<String> containers(PodFolder folder) {
        Path path = podLogs.resolve(folder.folder);
        if (folder.containers.isEmpty() && Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
            list(path, name -> {
                if (CONTAINER.matcher(name).matches()) {
                    folder.containers.add(name);
                }
            });
        }
        return folder.containers;
    }

    private static boolean list(Path folder, Consumer<String> names) {
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder)) {
            int left = MAX_ENTRIES;
            for (Path entry : entries) {
                if (left-- == 0) {
                    break;
                }
                names.accept(entry.getFileName().toString());
            }
            return true;
        } catch (IOException | DirectoryIteratorException e) {
            return false;
        }
    }

    private record Retry(long atNanos, int failures) {}

    private record PodFolder(String namespace, String name, String folder, List<String> containers) {}

    private record ContainerLog(String pod, String namespace, String container) {}
}
