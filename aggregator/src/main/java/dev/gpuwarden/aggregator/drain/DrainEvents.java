package dev.gpuwarden.aggregator.drain;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.drain.DrainAnnotation.Waiting;
import dev.gpuwarden.aggregator.nodestatus.NodeNews;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** The Events of a Node's drain, computed from the Node's annotations alone. So each replica computes the same Events. Pure. */
public final class DrainEvents {

    /** Reasons of Events by step; NVSentinel's reasons if it has them. */
    private static final Map<String, String> REASONS = new LinkedHashMap<>();

    static {
        REASONS.put("stays", "DrainNeedsHelp");
        REASONS.put("evict", "DrainBlocked");
        REASONS.put("going", "PodsDoNotEnd");
        REASONS.put("signal", "CheckpointBlocked");
        REASONS.put("checkpoint", "AwaitingCheckpoint");
        REASONS.put("delete", "WaitingBeforeForceDelete");
        REASONS.put("await", "AwaitingPodCompletion");
    }

    private static final List<String> GOOD = List.of("checkpoint", "delete", "await");

    private DrainEvents() {}

    public static List<NodeNews> of(CachedNode node) {
        try {
            Optional<DrainAnnotation> drain = DrainAnnotation.find(node);
            return drain.isEmpty() || !DrainRequest.drainable(node) ? List.of() : of(drain.get());
        } catch (IOException e) {
            return List.of();
        }
    }

    static List<NodeNews> of(DrainAnnotation drain) {
        if (drain.finished().isPresent()) {
            return List.of(new NodeNews(
                    "Drained", DrainText.of(drain), true, drain.finished().get()));
        }
        List<NodeNews> news = new ArrayList<>();
        drain.reopened()
                .map(again -> new NodeNews(
                        "DrainReopened",
                        DrainText.of(again) + ": a pod that holds a GPU came to the node",
                        false,
                        again.at()))
                .ifPresent(news::add);
        REASONS.forEach((step, reason) -> {
            List<Waiting> pods = drain.waiting().stream()
                    .filter(pod -> pod.step().equals(step))
                    .toList();
            Optional<Instant> at = pods.stream().map(Waiting::since).max(Instant::compareTo);
            at.ifPresent(since -> news.add(new NodeNews(reason, DrainText.waiting(pods), GOOD.contains(step), since)));
        });
        return news;
    }

    /** Returns the Event of a drain in a dry run. */
    public static List<NodeNews> would(Optional<DrainDryRun> rehearsal) {
        return rehearsal.stream()
                .map(dryRun -> new NodeNews("DrainDryRun", dryRun.text(), true, dryRun.at()))
                .toList();
    }

    /** Texts about a drain for operators. The same annotation gives the same text. */
    public static final class DrainText {

        private DrainText() {}

        /** Returns the scope of the drain. */
        static String what(DrainAnnotation drain) {
            return drain.full().isPresent()
                    ? "all pods"
                    : "the pods of " + String.join(", ", drain.gpus().keySet());
        }

        /** Returns the progress of the drain, and the pods that keep it open. */
        public static String of(DrainAnnotation drain) {
            if (drain.finished().isPresent()) {
                return "drained of " + what(drain) + " at " + drain.finished().get();
            }
            String waiting = drain.waiting().isEmpty() ? "" : ": " + waiting(drain.waiting());
            int more = drain.left() - drain.waiting().size();
            return (drain.failed() ? "not drained of " : "being drained of ") + what(drain) + " for " + drain.why()
                    + ", "
                    + drain.left() + (drain.left() == 1 ? " pod" : " pods") + " left" + waiting
                    + (!waiting.isEmpty() && more > 0 ? "; and " + more + " more" : "")
                    + drain.reopened().map(again -> "; " + of(again)).orElse("");
        }

        static String of(DrainAnnotation.Reopened again) {
            return "it was drained at " + again.finished() + ", and is open again since " + again.at();
        }

        static String waiting(List<DrainAnnotation.Waiting> waiting) {
            return waiting.stream().map(DrainText::of).collect(Collectors.joining("; "));
        }

        private static String of(DrainAnnotation.Waiting pod) {
            return (pod.pod().isEmpty() ? "" : pod.pod() + ": ") + pod.why() + ", since " + pod.since();
        }

        /** Returns the next action; empty if the drain is not under way. */
        public static String next(DrainAnnotation drain) {
            if (!drain.active()) {
                return "";
            }
            return drain.failed()
                    ? "move or delete what is left by hand, or allow it"
                    : drain.waiting().stream().anyMatch(pod -> pod.step().equals("evict"))
                            ? "evictions are retried until permitted; the node is drained when the last pod has ended"
                            : "the node is drained when the last pod has ended";
        }
    }
}
