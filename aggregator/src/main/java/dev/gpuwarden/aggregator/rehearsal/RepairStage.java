package dev.gpuwarden.aggregator.rehearsal;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.cache.NodeCache;
import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.client.KubeClient.Pages;
import dev.gpuwarden.aggregator.janitor.JanitorRehearsal;
import dev.gpuwarden.aggregator.janitor.JanitorSettings;
import dev.gpuwarden.aggregator.janitor.JanitorWalk;
import dev.gpuwarden.aggregator.janitor.JanitorWalk.Walked;
import dev.gpuwarden.aggregator.janitor.JanitorWalk.Write;
import dev.gpuwarden.aggregator.maintenance.MaintenanceKind;
import dev.gpuwarden.aggregator.quarantine.FaultReport;
import dev.gpuwarden.aggregator.rehearsal.DryRunWrites.Answer;
import dev.gpuwarden.aggregator.rehearsal.Timeline.Stage;
import dev.gpuwarden.aggregator.rehearsal.Timeline.Verdict;
import dev.gpuwarden.aggregator.remediation.RepairRehearsal;
import dev.gpuwarden.aggregator.remediation.RepairRehearsal.Request;
import dev.gpuwarden.core.node.ReportedGpus;
import dev.gpuwarden.core.util.JsonTrees;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The repair of a rehearsal: the resource, and the janitor's steps for it. Blocks. */
final class RepairStage {

    private static final String NO_UID = "00000000-0000-0000-0000-000000000000";

    private final KubeClient api;
    private final DryRunWrites writes;
    private final PipelineSettings settings;
    private final List<Map<String, Object>> pods;
    private final ReportedGpus gpus;
    private final Instant now;
    private final Entries entries;
    private final Map<MaintenanceKind, List<Map<String, Object>>> existing = new EnumMap<>(MaintenanceKind.class);

    RepairStage(
            KubeClient api,
            PipelineSettings settings,
            List<Map<String, Object>> pods,
            ReportedGpus gpus,
            Instant now,
            Entries entries) {
        this.api = api;
        this.writes = new DryRunWrites(api);
        this.settings = settings;
        this.pods = pods;
        this.gpus = gpus;
        this.now = now;
        this.entries = entries;
    }

    /** Reads the maintenance resources. Returns false, after a step with the reason, if one kind cannot be read. */
    boolean read() throws InterruptedException {
        boolean all = true;
        for (MaintenanceKind kind : MaintenanceKind.values()) {
            List<Map<String, Object>> trees = new ArrayList<>();
            try {
                Pages.each(api, kind.resources().path(), "", trees::add);
                existing.put(kind, trees);
            } catch (ApiException e) {
                all = false;
                entries.add(
                        Stage.REPAIR,
                        e.notFound() ? Verdict.STOPS : Verdict.UNKNOWN,
                        "read the " + kind.resources().plural(),
                        e.notFound()
                                ? "the cluster has no resource "
                                        + kind.resources().plural() + "."
                                        + MaintenanceKind.GROUP + ": apply its CustomResourceDefinition from the"
                                        + " manifests (crds/)"
                                : String.valueOf(e.getMessage()));
            }
        }
        return all;
    }

    /**
     * Decides about the repair.
     *
     * @param node the Node when the drain has ended
     * @param breaker reason of the breaker, if it is open
     */
    RepairRehearsal decide(Map<String, Object> node, FaultReport report, Optional<String> breaker) throws IOException {
        return RepairRehearsal.of(CachedNode.of(node), report, existing, breaker, settings.repairs(), now);
    }

    /** Adds the steps of a repair. Returns true if all of its resources would succeed. */
    boolean run(RepairRehearsal repair, Map<String, Object> node) throws InterruptedException {
        switch (repair.result()) {
            case ACTS -> {}
            case APPROVAL -> entries.add(Stage.REPAIR, Verdict.WAITS, "await an operator's approval", repair.why());
            case DRAIN, WAITS -> entries.add(Stage.REPAIR, Verdict.WAITS, "make no resource yet", repair.why());
            case PERSON -> entries.add(Stage.REPAIR, Verdict.STOPS, "wait for an operator", repair.why());
            case BLOCKED, NOTHING -> entries.add(Stage.REPAIR, Verdict.STOPS, "make no resource", repair.why());
        }
        boolean success = !repair.requests().isEmpty();
        for (Request request : repair.requests()) {
            success &= request(repair, request, node);
        }
        return success;
    }

    private boolean request(RepairRehearsal repair, Request request, Map<String, Object> node)
            throws InterruptedException {
        String name = JsonTrees.text(JsonTrees.object(request.body(), "metadata"), "name");
        String what = "create " + request.kind().resources().kind() + " " + name;
        if (request.own().isPresent() && !lock(request.own().get(), node) || entries.late(Stage.REPAIR, what)) {
            return false;
        }
        Answer answer = writes.create(request.kind().resources().path(), request.body());
        entries.add(Stage.REPAIR, answer.verdict(), what, answer.why() + "; " + repair.why());
        if (answer.verdict() == Verdict.STOPS) {
            return false;
        }
        if (request.kind() instanceof MaintenanceKind kind) {
            return maintain(kind, answer.object().orElseGet(() -> assumed(request.body())), node);
        }
        request.own()
                .ifPresent(own -> entries.add(
                        Stage.MAINTENANCE,
                        Verdict.WAITS,
                        "await the program that carries out template " + own.template(),
                        "the condition " + own.complete() + " of its resource is True after success"));
        return true;
    }

    /** Validates the lock of the node, which a template's resource gets before it is made. */
    private boolean lock(RepairRehearsal.OwnWay own, Map<String, Object> node) throws InterruptedException {
        String what = "lock the node: create Lease " + own.leases().namespace().orElse("") + "/"
                + CachedNode.of(node).name();
        if (entries.late(Stage.REPAIR, what)) {
            return false;
        }
        Answer answer = writes.create(own.leases().path(), own.lease());
        entries.add(Stage.REPAIR, answer.verdict(), what, answer.why());
        return answer.verdict() != Verdict.STOPS;
    }

    /** Returns the resource that the API server would store, as far as it is known without its answer. */
    private static Map<String, Object> assumed(Map<String, Object> body) {
        Map<String, Object> metadata = JsonTrees.copy(JsonTrees.object(body, "metadata"));
        metadata.put("uid", NO_UID);
        metadata.put("generation", 1L);
        Map<String, Object> all = new LinkedHashMap<>(body);
        all.put("metadata", metadata);
        return all;
    }

    // ---- the janitor ----

    private boolean maintain(MaintenanceKind kind, Map<String, Object> made, Map<String, Object> node)
            throws InterruptedException {
        if (settings.janitor().isEmpty()) {
            entries.add(
                    Stage.MAINTENANCE,
                    Verdict.WAITS,
                    "await another program that carries out the resource",
                    "the aggregator has no --janitor.image");
            return true;
        }
        JanitorSettings janitor = settings.janitor().get();
        String name = CachedNode.of(node).name();
        JanitorWalk walk;
        try {
            walk = JanitorRehearsal.of(api, kind, made, node, existing, pods, gpus, janitor, now);
        } catch (ApiException e) {
            entries.add(
                    Stage.MAINTENANCE, Verdict.UNKNOWN, "read the lock of the node", String.valueOf(e.getMessage()));
            return false;
        }
        for (Walked step : walk.steps()) {
            step(name, step);
        }
        switch (walk.result()) {
            case SUCCEEDS -> {}
            case WAITS -> entries.add(Stage.MAINTENANCE, Verdict.WAITS, "wait for another resource", walk.why());
            case FAILS -> entries.add(Stage.MAINTENANCE, Verdict.STOPS, "end without success", walk.why());
        }
        return walk.result() != JanitorWalk.Result.FAILS;
    }

    private void step(String node, Walked step) throws InterruptedException {
        if (step.write() instanceof Write.None) {
            entries.add(Stage.MAINTENANCE, Verdict.DOES, step.text(), "", step.most());
            return;
        }
        if (entries.late(Stage.MAINTENANCE, step.text())) {
            return;
        }
        Answer answer = step.write() instanceof Write.Create create
                ? writes.create(create.path(), create.body())
                : writes.patch(
                        NodeCache.NODES.path(node), "gpuwarden-janitor", ((Write.PatchNode) step.write()).operations());
        entries.add(Stage.MAINTENANCE, answer.verdict(), step.text(), answer.why(), step.most());
    }
}
