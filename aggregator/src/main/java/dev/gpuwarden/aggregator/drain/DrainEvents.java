package dev.gpuwarden.aggregator.drain;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.drain.DrainAnnotation.Waiting;
import dev.gpuwarden.aggregator.quarantine.QuarantineEvents;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What there is to be told of a Node's drain, from what lies on the Node: whoever asks later gets the same. Pure. */
public final class DrainEvents {

    /** NVSentinel's words where it has them. */
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

    public static List<QuarantineEvents> of(CachedNode node) {
        try {
            Optional<DrainAnnotation> drain = DrainAnnotation.find(node);
            return drain.isEmpty() || !DrainRequest.drainable(node) ? List.of() : of(drain.get());
        } catch (IOException e) {
            return List.of();
        }
    }

    static List<QuarantineEvents> of(DrainAnnotation drain) {
        if (drain.finished().isPresent()) {
            return List.of(new QuarantineEvents(
                    "Drained", DrainText.of(drain), true, drain.finished().get()));
        }
        List<QuarantineEvents> news = new ArrayList<>();
        drain.reopened()
                .map(again -> new QuarantineEvents(
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
            at.ifPresent(since ->
                    news.add(new QuarantineEvents(reason, DrainText.waiting(pods), GOOD.contains(step), since)));
        });
        return news;
    }

    /** Of what is not carried out. */
    public static List<QuarantineEvents> would(Optional<DrainDryRun> rehearsal) {
        return rehearsal.stream()
                .map(said -> new QuarantineEvents("DrainDryRun", said.text(), true, said.at()))
                .toList();
    }
}
