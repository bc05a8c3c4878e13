package dev.gpuwarden.aggregator.drain;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.cache.NodeAnnotations;
import dev.gpuwarden.aggregator.client.Json;
import dev.gpuwarden.aggregator.drain.DrainPlan.PodPlan;
import dev.gpuwarden.core.model.Identifiers;
import dev.gpuwarden.core.util.JsonTrees;
import dev.gpuwarden.core.util.Text;
import java.io.IOException;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * The drain of a Node as its annotation stores it. The aggregator keeps no other state of a drain. The annotation ends with the
 * quarantine.
 *
 * @param full start of the drain of all pods; empty for a partial drain
 * @param gpus start of the partial drain of each GPU, by UUID
 * @param done UUIDs of those GPUs whose pods have ended
 * @param forced true if the drain ignores the policies
 * @param why faults that request the drain, for operators
 * @param finished end of the last pod; empty while the drain is under way
 * @param left number of pods that keep the drain open
 * @param failed true if the drain cannot go on without an operator
 * @param waiting pods whose eviction is not immediate, at most `MOST_WAITING`
 * @param reopened last time the drain was opened again after it had succeeded; empty if it was not, or has succeeded since
 */
public record DrainAnnotation(
        Optional<Instant> full,
        SortedMap<String, Instant> gpus,
        Set<String> done,
        boolean forced,
        String why,
        Optional<Instant> finished,
        int left,
        boolean failed,
        List<Waiting> waiting,
        Optional<Reopened> reopened) {

    static final DrainAnnotation NONE = new DrainAnnotation(
            Optional.empty(),
            new TreeMap<>(),
            Set.of(),
            false,
            "",
            Optional.empty(),
            0,
            false,
            List.of(),
            Optional.empty());

    static final int MOST_WAITING = 10;
    private static final int LONGEST = 200;

    /**
     * @param pod `NAMESPACE/NAME`
     * @param step name of a {@link PodPlan.Step}, in small letters
     * @param why reason why the pod does not leave now
     * @param since start of this state
     */
    public record Waiting(String pod, String step, String why, Instant since) {}

    /**
     * The return of a drain that had succeeded, because a pod that holds a GPU came to the node.
     *
     * @param finished last time at which the drain had succeeded
     * @param at time at which it was opened again
     */
    public record Reopened(Instant finished, Instant at) {}

    public DrainAnnotation {
        gpus = new TreeMap<>(gpus);
        done = new TreeSet<>(done);
        waiting = List.copyOf(waiting);
    }

    /** Returns true while the drain is under way. */
    public boolean active() {
        return !gone() && finished.isEmpty();
    }

    /** Returns true if no drain is requested. */
    private boolean gone() {
        return full.isEmpty() && gpus.isEmpty();
    }

    /** Returns the earliest start of the drain; the end of time if no pod has to leave. */
    public Instant began() {
        return Stream.concat(full.stream(), gpus.values().stream())
                .min(Instant::compareTo)
                .orElse(Instant.MAX);
    }

    /** Returns the UUIDs of all GPUs of a partial drain, also those whose pods have ended. Empty for a drain of all pods. */
    Set<String> partial() {
        return full.isPresent() ? Set.of() : gpus.keySet();
    }

    /** Returns the last time at which the drain had succeeded; empty if it never has. */
    Optional<Instant> succeeded() {
        return finished.or(() -> reopened.map(Reopened::finished));
    }

    /** Returns the drain with the pods of a further request. A request holds until the node is released. */
    DrainAnnotation with(DrainRequest ask, Instant now) {
        if (full.isPresent()) {
            return ask.forced() && !forced && finished.isEmpty()
                    ? new DrainAnnotation(full, gpus, done, true, why, finished, left, failed, waiting, reopened)
                    : this;
        }
        if (!ask.full() && gpus.keySet().containsAll(ask.gpus())) {
            return this;
        }
        Instant at = milli(now);
        SortedMap<String, Instant> all = new TreeMap<>(gpus);
        ask.gpus().forEach(gpu -> all.putIfAbsent(gpu, at));
        return new DrainAnnotation(
                ask.full() ? Optional.of(at) : full,
                all,
                finished.isPresent() ? gpus.keySet() : done,
                forced || ask.forced(),
                cut(ask.why()),
                Optional.empty(),
                left,
                false,
                waiting,
                Optional.empty());
    }

    /** Returns the drain of all pods, because the holders of its GPUs are unknown. */
    DrainAnnotation escalated(String unknown, Instant now) {
        return new DrainAnnotation(
                Optional.of(milli(now)),
                gpus,
                done,
                forced,
                cut(why + "; all pods, since it is not known which have the GPU: " + unknown),
                Optional.empty(),
                left,
                false,
                waiting,
                Optional.empty());
    }

    DrainAnnotation finished(Instant now) {
        return new DrainAnnotation(
                full, gpus, gpus.keySet(), forced, why, Optional.of(milli(now)), 0, false, List.of(), Optional.empty());
    }

    /**
     * Returns the drain, under way again.
     *
     * @param held UUIDs of the GPUs that pods hold again; empty for a drain of all pods
     */
    DrainAnnotation reopened(Set<String> held, Instant now) {
        Set<String> free = new TreeSet<>(done);
        free.removeAll(held);
        Optional<Reopened> again = finished.map(was -> new Reopened(was, milli(now)));
        return new DrainAnnotation(full, gpus, free, forced, why, Optional.empty(), 0, false, List.of(), again);
    }

    /** @param stuck true if each pod in the way needs an operator */
    DrainAnnotation waiting(int inTheWay, boolean stuck, List<Waiting> slow) {
        List<Waiting> some = slow.stream().limit(MOST_WAITING).toList();
        return new DrainAnnotation(full, gpus, done, forced, why, finished, inTheWay, stuck, some, reopened);
    }

    /** Returns the value of NVSentinel's label. */
    String state() {
        return finished.isPresent() ? "drain-succeeded" : failed ? "drain-failed" : "draining";
    }

    static Instant milli(Instant time) {
        return time.truncatedTo(ChronoUnit.MILLIS);
    }

    static String cut(String text) {
        return Text.truncate(text, LONGEST);
    }

    // ---- as a text ----

    /** Returns the drain of a Node; empty if it has none. */
    public static Optional<DrainAnnotation> find(CachedNode node) throws IOException {
        DrainAnnotation record = of(node);
        return record.gone() ? Optional.empty() : Optional.of(record);
    }

    /** @throws IOException if the annotation cannot be read */
    static DrainAnnotation of(CachedNode node) throws IOException {
        String text = node.annotations().get(NodeAnnotations.DRAIN);
        if (text == null) {
            return NONE;
        }
        try {
            return read(Json.readObject(text));
        } catch (IOException | DateTimeException e) {
            throw new IOException("annotation " + NodeAnnotations.DRAIN + " cannot be read: " + e.getMessage(), e);
        }
    }

    private static DrainAnnotation read(Map<String, Object> tree) {
        SortedMap<String, Instant> gpus = new TreeMap<>();
        JsonTrees.texts(tree, "gpus").forEach((gpu, since) -> gpus.put(Identifiers.gpu(gpu), Instant.parse(since)));
        List<Waiting> waiting = new ArrayList<>();
        for (Map<String, Object> pod : JsonTrees.objects(tree, "waiting")) {
            waiting.add(new Waiting(
                    JsonTrees.text(pod, "pod"),
                    JsonTrees.text(pod, "step"),
                    JsonTrees.text(pod, "why"),
                    Instant.parse(JsonTrees.text(pod, "since"))));
        }
        return new DrainAnnotation(
                time(tree, "full"),
                gpus,
                Identifiers.gpus(JsonTrees.textList(tree, "done")),
                JsonTrees.isTrue(tree, "forced"),
                JsonTrees.text(tree, "why"),
                time(tree, "finished"),
                JsonTrees.number(tree, "left"),
                JsonTrees.isTrue(tree, "failed"),
                waiting,
                reopened(JsonTrees.object(tree, "reopened")));
    }

    private static Optional<Reopened> reopened(Map<String, Object> tree) {
        return tree.isEmpty()
                ? Optional.empty()
                : Optional.of(new Reopened(
                        Instant.parse(JsonTrees.text(tree, "finished")), Instant.parse(JsonTrees.text(tree, "at"))));
    }

    private static Optional<Instant> time(Map<String, Object> tree, String name) {
        String text = JsonTrees.text(tree, name);
        return text.isEmpty() ? Optional.empty() : Optional.of(Instant.parse(text));
    }

    public Map<String, Object> tree() {
        Map<String, Object> tree = new LinkedHashMap<>();
        full.ifPresent(since -> tree.put("full", since.toString()));
        if (!gpus.isEmpty()) {
            Map<String, Object> texts = new LinkedHashMap<>();
            gpus.forEach((gpu, since) -> texts.put(gpu, since.toString()));
            tree.put("gpus", texts);
            tree.put("done", List.copyOf(done));
        }
        if (forced) {
            tree.put("forced", true);
        }
        tree.put("why", why);
        finished.ifPresent(at -> tree.put("finished", at.toString()));
        tree.put("left", left);
        if (failed) {
            tree.put("failed", true);
        }
        tree.put("waiting", waiting.stream().map(DrainAnnotation::tree).toList());
        reopened.ifPresent(again -> tree.put(
                "reopened",
                Map.of("finished", again.finished().toString(), "at", again.at().toString())));
        return tree;
    }

    private static Map<String, Object> tree(Waiting pod) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("pod", pod.pod());
        tree.put("step", pod.step());
        tree.put("why", pod.why());
        tree.put("since", pod.since().toString());
        return tree;
    }

    String text() {
        return Json.write(tree());
    }
}
