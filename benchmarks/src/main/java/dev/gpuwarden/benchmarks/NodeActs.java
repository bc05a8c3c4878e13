package dev.gpuwarden.benchmarks;

import dev.gpuwarden.core.util.JsonTrees;
import dev.gpuwarden.testkit.cluster.ApiClient;
import dev.gpuwarden.testkit.cluster.ClusterNode;
import dev.gpuwarden.testkit.cluster.JsonPath;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The resets and reboots of real nodes, as the nodes saw them. A wrapper of a node's `nvidia-smi`, and a line in its `systemctl`, report
 * each act and hold it until {@link #look} has read the Node from the API server. An act waits ten seconds at most. Thread-safe.
 */
final class NodeActs {

    private static final Pattern UID = Pattern.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}");

    /** Reports an act by a file that has its pod's name and its arguments, then waits. */
    private static final String REPORT = """
            report() {
                act=/run/simulated-gpus/acts/$(cat /proc/sys/kernel/random/uuid)
                echo "$(cat /proc/sys/kernel/hostname) $*" >"$act.new"
                mv "$act.new" "$act.act"
                for i in $(seq 100); do
                    [ ! -e "$act.seen" ] || break
                    sleep 0.1
                done
            }
            """;

    private static final String NVIDIA_SMI = "#!/bin/sh\n" + REPORT + """
            case "$*" in *--gpu-reset*) report reset "$@" ;; esac
            exec "$0.real" "$@"
            """;

    private static final String SYSTEMCTL = REPORT + """
            case "$*" in *reboot*) report reboot "$@" ;; esac
            """;

    /**
     * An act, and its node immediately before.
     *
     * @param resource UID of the maintenance resource, from the name of the Job's pod; the pod's name without one
     * @param words the act and the program's arguments
     * @param inService true if the Node was not cordoned
     * @param pods workload pods that ran on it
     */
    record Act(String node, String resource, String words, boolean inService, List<String> pods) {

        boolean isReboot() {
            return words.startsWith("reboot ");
        }

        String text() {
            return String.format(
                    Locale.ROOT,
                    "%s: %s, for %s; the Node was %s, pods that ran: %s",
                    node,
                    words,
                    resource,
                    inService ? "in service" : "cordoned",
                    pods);
        }
    }

    private final List<ClusterNode> nodes;
    private final ApiClient api;
    private final List<Act> acts = new CopyOnWriteArrayList<>();

    /** Places the wrappers on the nodes. */
    NodeActs(List<ClusterNode> nodes, ApiClient api) throws IOException {
        this.nodes = nodes;
        this.api = api;
        for (ClusterNode node : nodes) {
            Files.createDirectory(folder(node));
            Path smi = node.gpus().root().resolve("bin/nvidia-smi");
            Files.move(smi, smi.resolveSibling("nvidia-smi.real"), StandardCopyOption.ATOMIC_MOVE);
            Files.writeString(smi, NVIDIA_SMI);
            Files.setPosixFilePermissions(smi, PosixFilePermissions.fromString("rwxr-xr-x"));
            // Written in place: the node has mounted the file's folder below its /usr/bin.
            Path systemctl = node.gpus().root().resolveSibling("programs").resolve("systemctl");
            String text = Files.readString(systemctl, StandardCharsets.UTF_8);
            Files.writeString(systemctl, text.replaceFirst("\n", Matcher.quoteReplacement("\n" + SYSTEMCTL)));
        }
    }

    private static Path folder(ClusterNode node) {
        return node.gpus().root().resolve("acts");
    }

    List<Act> all() {
        return List.copyOf(acts);
    }

    /** Records the acts that wait on any node, and lets them go on. */
    void look() throws IOException {
        for (ClusterNode node : nodes) {
            for (Path act : waiting(node)) {
                String[] words = Files.readString(act).strip().split(" ", 2);
                Matcher uid = UID.matcher(words[0]);
                boolean inService = !"true".equals(api.find("node/" + node.name(), ".spec.unschedulable"));
                acts.add(new Act(node.name(), uid.find() ? uid.group() : words[0], words[1], inService, pods(node)));
                Files.move(act, act.resolveSibling(act.getFileName().toString().replace(".act", ".seen")));
            }
        }
    }

    private static List<Path> waiting(ClusterNode node) throws IOException {
        try (Stream<Path> files = Files.list(folder(node))) {
            return files.filter(file -> file.toString().endsWith(".act")).toList();
        }
    }

    private List<String> pods(ClusterNode node) {
        List<String> names = new ArrayList<>();
        Map<String, Object> list = api.get("pods/default?fieldSelector=spec.nodeName%3D" + node.name());
        for (Map<String, Object> pod : JsonTrees.objects(list, "items")) {
            if (JsonPath.text(pod, ".metadata.deletionTimestamp").isEmpty()
                    && JsonPath.text(pod, ".status.phase").equals("Running")) {
                names.add(JsonPath.text(pod, ".metadata.name"));
            }
        }
        return names;
    }

    /** Returns the wrong acts: in service, a reboot under pods, or the same one again for one resource. */
    static List<String> wrong(List<Act> acts) {
        List<String> wrong = new ArrayList<>();
        Map<String, Integer> times = new TreeMap<>();
        for (Act act : acts) {
            if (act.inService()) {
                wrong.add("on a node in service: " + act.text());
            }
            if (act.isReboot() && !act.pods().isEmpty()) {
                wrong.add("a reboot under pods: " + act.text());
            }
            int time = times.merge(act.resource() + " " + act.words(), 1, Integer::sum);
            if (time > 1) {
                wrong.add("time " + time + " for one resource: " + act.text());
            }
        }
        return wrong;
    }
}
