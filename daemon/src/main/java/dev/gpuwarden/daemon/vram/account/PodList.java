package dev.gpuwarden.daemon.vram.account;

import dev.gpuwarden.api.VramCodec;
import dev.gpuwarden.api.kube.PodFacts;
import dev.gpuwarden.api.v1.BudgetedPod;
import dev.gpuwarden.api.vram.BudgetReader;
import dev.gpuwarden.daemon.kube.KubeWatch;
import dev.gpuwarden.daemon.vram.kube.Pods;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** The pods of this node that have a budget, as a watch reports them. Thread-safe. */
final class PodList implements KubeWatch.Listener {

    private final String resource;
    /** By namespace and name, so that a pod replaces the one before it. */
    private final Map<String, BudgetedPod> byPath = new TreeMap<>();

    private volatile Pods pods = new Pods(Map.of());

    PodList(String resource) {
        this.resource = resource;
    }

    /** Returns the pods of the last change. */
    Pods pods() {
        return pods;
    }

    @Override
    public synchronized void listed(List<Map<?, ?>> objects) {
        byPath.clear();
        objects.forEach(this::put);
        publish();
    }

    @Override
    public synchronized void changed(Map<?, ?> object) {
        put(object);
        publish();
    }

    @Override
    public synchronized void removed(Map<?, ?> object) {
        byPath.remove(PodFacts.of(object).path());
        publish();
    }

    private void put(Map<?, ?> object) {
        String path = PodFacts.of(object).path();
        Optional<BudgetedPod> pod = BudgetReader.of(object, resource);
        if (pod.isPresent()) {
            byPath.put(path, pod.get());
        } else {
            byPath.remove(path);
        }
    }

    private void publish() {
        Map<String, BudgetedPod> byUid = new HashMap<>();
        byPath.values().stream().limit(VramCodec.MOST_PODS).forEach(pod -> byUid.put(pod.getUid(), pod));
        pods = new Pods(byUid);
    }
}
