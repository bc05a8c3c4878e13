package dev.gpuwarden.aggregator.drain;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.cache.NodeAnnotations;
import dev.gpuwarden.aggregator.client.Json;
import dev.gpuwarden.aggregator.client.JsonTrees;
import dev.gpuwarden.aggregator.drain.DrainPlan.PodPlan;
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
 * What a Node says of its own drain, in an annotation: all that is remembered. It goes with the quarantine.
 *
 * @param full since when all pods have to go; empty where not all have to
 * @param gpus since when the pods of these have to
 * @param done those of them whose pods are gone
 * @param forced whether policies are not asked
 * @param why what asks for it, for people
 * @param finished when the last pod was gone; empty while it is under way
 * @param left how many pods are in the way
 * @param failed whether nothing moves any more until a person does something
 * @param waiting those of them that go slower than at once, as far as there is room
 * @param reopened that it had succeeded before; empty where it has not, or has succeeded since
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
     * @param step as in {@link PodPlan.Step}, in small letters
     * @param why it does not go now
     * @param since when that is so
     */
    public record Waiting(String pod, String step, String why, Instant since) {}

    /**
     * That a pod which holds a GPU came after the drain had succeeded.
     *
     * @param finished when it had succeeded last
     * @param at when it was opened again
     */
    public record Reopened(Instant finished, Instant at) {}

    public DrainAnnotation {
        gpus = new TreeMap<>(gpus);
        done = new TreeSet<>(done);
        waiting = List.copyOf(waiting);
    }

    /** Whether it is under way. */
    public boolean active() {
        return !gone() && finished.isEmpty();
    }

    /** Whether there is none. */
    private boolean gone() {
        return full.isEmpty() && gpus.isEmpty();
    }

    /** Since when anything has to go; the end of time where nothing has. */
    Instant began() {
        return Stream.concat(full.stream(), gpus.values().stream())
                .min(Instant::compareTo)
                .orElse(Instant.MAX);
    }

    /** GPUs that no pod may hold, those included whose pods are gone; none where all pods have to go. */
    Set<String> partial() {
        return full.isPresent() ? Set.of() : gpus.keySet();
    }

    /** When it had succeeded last; empty while it never has. */
    Optional<Instant> succeeded() {
        return finished.or(() -> reopened.map(Reopened::finished));
    }

    /** With what is asked for besides. What has been asked for stays so until the node is released. */
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

    /** The same for all pods, since nobody knows which ones have the GPUs. */
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
     * The same, under way again.
     *
     * @param held GPUs that are held again; none where all pods have to go
     */
    DrainAnnotation reopened(Set<String> held, Instant now) {
        Set<String> free = new TreeSet<>(done);
        free.removeAll(held);
        Optional<Reopened> again = finished.map(was -> new Reopened(was, milli(now)));
        return new DrainAnnotation(full, gpus, free, forced, why, Optional.empty(), 0, false, List.of(), again);
    }

    /** @param stuck whether nobody but a person can go on with any of them */
    DrainAnnotation waiting(int inTheWay, boolean stuck, List<Waiting> slow) {
        List<Waiting> some = slow.stream().limit(MOST_WAITING).toList();
        return new DrainAnnotation(full, gpus, done, forced, why, finished, inTheWay, stuck, some, reopened);
    }

    /** The value of NVSentinel's label. */
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

    /** Empty where there is none. */
    public static Optional<DrainAnnotation> find(CachedNode node) throws IOException {
        DrainAnnotation record = of(node);
        return record.gone() ? Optional.empty() : Optional.of(record);
    }

    /** @throws IOException where it cannot be read */
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
        JsonTrees.texts(tree, "gpus").forEach((gpu, since) -> gpus.put(gpu, Instant.parse(since)));
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
                Set.copyOf(JsonTrees.textList(tree, "done")),
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
