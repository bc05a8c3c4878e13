package dev.gpuwarden.aggregator.command;

import dev.gpuwarden.aggregator.breaker.Pool;
import dev.gpuwarden.aggregator.fleet.BreakerStatus.BreakerView;
import dev.gpuwarden.aggregator.fleet.ClusterContext.Leader;
import dev.gpuwarden.aggregator.fleet.FleetReader.NodeStory;
import dev.gpuwarden.aggregator.fleet.NodeJson;
import dev.gpuwarden.aggregator.fleet.Seen;
import dev.gpuwarden.aggregator.nodestatus.NodeNews;
import dev.gpuwarden.aggregator.quarantine.QuarantineEvents;
import dev.gpuwarden.aggregator.quarantine.QuarantineSummary;
import dev.gpuwarden.aggregator.remediation.NodePipeline;
import dev.gpuwarden.core.util.JsonTrees;
import java.time.Instant;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The full report on one node: gpuwarden.explain/v1, see docs/operating/fleet.md. Pure. */
record ExplainReport(NodeStory story) {

    static final String SCHEMA = "gpuwarden.explain/v1";

    private static final int MOST_EVENTS = 10;

    /** A Kubernetes Event. */
    record Event(String at, String type, String reason, String message, String from) {
        private static Event of(Map<String, Object> tree) {
            String source = JsonTrees.text(JsonTrees.object(tree, "source"), "component");
            return new Event(
                    time(tree),
                    JsonTrees.text(tree, "type"),
                    JsonTrees.text(tree, "reason"),
                    JsonTrees.text(tree, "message"),
                    source.isEmpty() ? JsonTrees.text(tree, "reportingComponent") : source);
        }

        private static String time(Map<String, Object> tree) {
            for (String field : List.of("lastTimestamp", "eventTime")) {
                if (!JsonTrees.text(tree, field).isEmpty()) {
                    return JsonTrees.text(tree, field);
                }
            }
            return JsonTrees.text(JsonTrees.object(tree, "metadata"), "creationTimestamp");
        }
    }

    /** Returns the last Events, the youngest last. */
    List<Event> events() {
        List<Event> all = story.events().value().orElse(List.of()).stream()
                .map(Event::of)
                .sorted(Comparator.comparing(Event::at))
                .toList();
        return all.subList(Math.max(0, all.size() - MOST_EVENTS), all.size());
    }

    /** Returns the last decision, as far as the Node records it. */
    Optional<NodeNews> decided() {
        return QuarantineEvents.of(story.facts().node());
    }

    /** Returns the breaker's pools that contain this node, as far as their selectors are known. */
    List<String> pools() {
        return story.around().breaker().limited().stream()
                .filter(pool -> pool.selector().matches(story.facts().node().labels()))
                .map(Pool::name)
                .toList();
    }

    /** Returns the owner of the cordon as text. */
    String cordon() {
        if (!story.assessment().unschedulable()) {
            return "none";
        }
        Optional<QuarantineSummary> inspection = story.assessment().inspection();
        if (inspection.isPresent()
                && inspection.get().cordoned()
                && !inspection.get().cordonPreExisting()) {
            return "by gpuwarden, for its faults";
        }
        String by = story.facts()
                .cordoner()
                .map(who -> "by another writer, with " + who.program()
                        + who.at()
                                .map(at -> ", which last wrote the Node at " + at)
                                .orElse(""))
                .orElse("by an unknown program");
        return inspection.isPresent() && inspection.get().cordonPreExisting()
                ? by + "; it was there before the quarantine and stays after it"
                : by;
    }

    /** Returns the leader, which decides about the node now, as text. */
    String aggregator() {
        Seen<Leader> leader = story.around().leader();
        return leader.value()
                .map(lease -> lease.leads(story.at()) ? lease.holder() : "none acts since " + lease.until())
                .orElse("not known: " + leader.why());
    }

    Map<String, Object> tree() {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("schema", SCHEMA);
        tree.put("at", story.at().toString());
        tree.put("node", NodeJson.tree(story.assessment()));
        tree.put("cordon", cordon());
        tree.put("decided", decided().map(ExplainReport::tree));
        tree.put(
                "unanswered",
                story.assessment()
                        .inspection()
                        .map(QuarantineSummary::unanswered)
                        .orElse(List.of()));
        tree.put("pools", pools());
        tree.put("breaker", BreakerView.tree(story.around()));
        tree.put("aggregator", aggregator());
        tree.put("pipeline", story.pipeline().map(NodePipeline::tree));
        tree.put("notes", notes());
        tree.put("events", events().stream().map(ExplainReport::tree).toList());
        return tree;
    }

    List<String> notes() {
        List<String> notes = story.around().notes(story.at());
        if (story.events().value().isEmpty()) {
            notes.add("its Events are not known: " + story.events().why());
        }
        return notes;
    }

    private static Map<String, Object> tree(NodeNews news) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("at", news.at().toString());
        tree.put("reason", news.reason());
        tree.put("text", news.text());
        return tree;
    }

    private static Map<String, Object> tree(Event event) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("at", event.at());
        tree.put("type", event.type());
        tree.put("reason", event.reason());
        tree.put("message", event.message());
        tree.put("from", event.from());
        return tree;
    }

    /** Returns the age of a time as text. */
    String ago(Instant time) {
        return FleetTable.age(time, story.at()) + " ago";
    }
}
