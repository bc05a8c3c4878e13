package dev.gpuwarden.aggregator.vram;

import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.controller.ActionMode;
import dev.gpuwarden.aggregator.ingest.RequestWorkers;
import dev.gpuwarden.aggregator.pods.PodEviction;
import dev.gpuwarden.aggregator.pods.PodView;
import dev.gpuwarden.api.VramCodec;
import dev.gpuwarden.api.v1.Acknowledgement;
import dev.gpuwarden.api.v1.Evict;
import dev.gpuwarden.api.v1.Removal;
import dev.gpuwarden.api.vram.RemovalCheck;
import dev.gpuwarden.core.util.JsonTrees;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;

/** Ends pods at the request of their nodes. Thread-safe. */
final class PodRemovals extends RequestWorkers<Evict> {

    private static final System.Logger LOG = System.getLogger(PodRemovals.class.getName());

    private static final String TOO_MANY = "too many requests to end a pod: try again in some seconds";

    private static final int QUEUE = 64;

    private final KubeClient api;
    private final VramSettings settings;
    private final VramEvents events;
    private final VramMetrics metrics;
    private final RemovalLimits limits;

    PodRemovals(KubeClient api, VramSettings settings, VramEvents events, VramMetrics metrics, LongSupplier nanoTime) {
        super("gpuwarden-vram-removal", QUEUE, VramCodec.MOST_OPEN, VramCodec.PATIENCE, nanoTime);
        this.api = api;
        this.settings = settings;
        this.events = events;
        this.metrics = metrics;
        this.limits = new RemovalLimits(nanoTime);
    }

    /**
     * The end of a request.
     *
     * @param begun whether something was done to the pod, or may have been
     */
    private record Result(String outcome, boolean accepted, boolean begun, String text) {
        static Result accepted(String outcome, String text) {
            return new Result(outcome, true, true, text);
        }

        static Result failed(String outcome, String text) {
            return new Result(outcome, false, true, text);
        }

        static Result refused(String outcome, String text) {
            return new Result(outcome, false, false, text);
        }
    }

    @Override
    protected boolean permits(String node) {
        return limits.asks(node);
    }

    @Override
    protected Acknowledgement answer(String node, Evict wanted) throws ApiException, InterruptedException {
        return answer(wanted, remove(node, wanted));
    }

    @Override
    protected Acknowledgement refused(Evict wanted, Limit limit) {
        return answer(
                wanted,
                switch (limit) {
                    case OPEN -> Result.refused("limit", "the node has " + VramCodec.MOST_OPEN + " requests open");
                    case RATE -> Result.refused("limit", TOO_MANY);
                    case WAITING -> Result.refused("limit", "the aggregator has too many pods to end");
                    case AGE -> Result.refused("late", "the aggregator was too busy");
                });
    }

    @Override
    protected Acknowledgement failed(String node, Evict wanted, Exception cause) {
        if (cause instanceof ApiException) {
            return answer(wanted, Result.refused("error", "the pod cannot be read: " + cause.getMessage()));
        }
        if (cause instanceof InterruptedException) {
            return answer(wanted, Result.failed("error", "the aggregator stops"));
        }
        LOG.log(Level.ERROR, "a request of node " + node + " to end a pod: this is a bug in gpuwarden", cause);
        return answer(wanted, Result.failed("error", cause.toString()));
    }

    private Acknowledgement answer(Evict wanted, Result result) {
        metrics.removals.add(result.outcome());
        return result.begun()
                ? VramCodec.answer(wanted.getId(), result.accepted(), result.text())
                : VramCodec.refused(wanted.getId(), result.text());
    }

    private Result remove(String node, Evict wanted) throws ApiException, InterruptedException {
        Optional<Map<String, Object>> pod = find(wanted);
        if (pod.isEmpty()) {
            return Result.accepted("gone", "the pod has ended already");
        }
        Optional<String> refusal = RemovalCheck.refusal(node, wanted.getPodUid(), pod.get(), settings.resource());
        if (refusal.isPresent()) {
            return Result.refused("refused", refusal.get());
        }
        if (!limits.ends(node)) {
            return Result.refused("limit", TOO_MANY);
        }
        boolean deletes = wanted.getRemoval() == Removal.REMOVAL_DELETE;
        String verb = deletes ? "delete" : "evict";
        if (wanted.getRemoval() == Removal.REMOVAL_DRY_RUN || settings.mode() == ActionMode.DRY_RUN) {
            events.pod(
                    pod.get(),
                    node,
                    "VramWouldRecycle",
                    "Dry run: gpuwarden would " + verb + " this pod: " + VramCodec.reason(wanted));
            return wanted.getRemoval() == Removal.REMOVAL_DRY_RUN
                    ? Result.accepted("dry_run", "dry run: the pod has an Event")
                    : Result.refused("dry_run", "the aggregator ends no pod: its --vram.evictions is dry-run");
        }
        if (deletes && !settings.deletes()) {
            return Result.refused("refused", "the aggregator deletes no pod: its --vram.delete is off");
        }
        if (wanted.getRemoval() != Removal.REMOVAL_EVICT && !deletes) {
            return Result.refused("refused", "the aggregator does not support this kind of removal");
        }
        return end(node, wanted, pod.get(), deletes);
    }

    private Result end(String node, Evict wanted, Map<String, Object> pod, boolean deletes)
            throws InterruptedException {
        PodView view = PodView.of(pod);
        if (view.deleted().isPresent()) {
            return Result.accepted("gone", "the pod ends already");
        }
        Duration grace = RemovalCheck.grace(Duration.ofSeconds(wanted.getMostGraceSeconds()), pod);
        PodEviction removal = new PodEviction(api, Optional.of(grace), false);
        PodEviction.Outcome outcome = deletes ? removal.delete(view) : removal.evict(view);
        if (settings.deletes()
                && outcome instanceof PodEviction.Outcome.Refused refused
                && refused.kind().startsWith("budget")) {
            outcome = removal.delete(view);
        }
        LOG.log(
                Level.INFO,
                "pod " + view.path() + " " + view.uid() + " of node " + node + ": " + outcome.kind() + ": "
                        + VramCodec.reason(wanted));
        if (outcome instanceof PodEviction.Outcome.Refused refused) {
            return Result.failed(refused.kind(), refused.why());
        }
        events.pod(
                pod,
                node,
                "VramRecycled",
                "gpuwarden has " + outcome.kind() + " this pod: " + VramCodec.reason(wanted));
        return Result.accepted(outcome.kind(), "the pod " + view.path() + " is " + outcome.kind());
    }

    /** Reads the pod by a list, since this program may list pods and not get one. */
    private Optional<Map<String, Object>> find(Evict wanted) throws ApiException, InterruptedException {
        String path =
                "/api/v1/namespaces/" + wanted.getNamespace() + "/pods?fieldSelector=metadata.name=" + wanted.getPod();
        return JsonTrees.objects(api.get(path), "items").stream().findFirst();
    }
}
