package dev.gpuwarden.daemon.uplink;

import dev.gpuwarden.api.AccessCodec;
import dev.gpuwarden.api.v1.AccessVerdict;
import dev.gpuwarden.api.v1.NodeReport;
import dev.gpuwarden.daemon.page.TokenReviewer;
import dev.gpuwarden.daemon.sink.Wakeup;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * Asks the aggregator whether people's tokens open this node's page, over the stream on which the node reports. Questions live as long
 * as their connection, and some seconds at most. Nothing is completed under the lock: who waits may have one of his own. Thread-safe.
 */
public final class TokenReviewRequests implements TokenReviewer {

    private static final String AWAY = "the node has no connection to its aggregator";

    private final Map<String, CompletableFuture<Verdict>> open = new HashMap<>();
    private final Queue<NodeReport> unsent = new ArrayDeque<>();
    private Optional<Wakeup> bell = Optional.empty();
    /** Why nothing can be asked; empty while it can. */
    private String closed = AWAY;

    private long number;

    @Override
    public CompletableFuture<Verdict> ask(String token) {
        CompletableFuture<Verdict> answer = new CompletableFuture<>();
        String refused = add(token, answer);
        if (!refused.isEmpty()) {
            return CompletableFuture.completedFuture(Verdict.unknown(refused));
        }
        return answer;
    }

    /** Returns why not; empty where it is asked. */
    private synchronized String add(String token, CompletableFuture<Verdict> answer) {
        if (!closed.isEmpty()) {
            return closed;
        }
        if (open.size() >= AccessCodec.MOST_OPEN) {
            return "others wait for theirs to be checked: try again soon";
        }
        String id = "access-" + ++number;
        open.put(id, answer);
        unsent.add(AccessCodec.report(id, token));
        bell.ifPresent(Wakeup::ring);
        var unused = answer.completeOnTimeout(
                        Verdict.unknown("the aggregator has not answered in time"),
                        AccessCodec.PATIENCE.toMillis(),
                        TimeUnit.MILLISECONDS)
                .whenComplete((verdict, failure) -> forget(id));
        return "";
    }

    private synchronized void forget(String id) {
        open.remove(id);
        // One that nobody waits for any more is not worth a look.
        unsent.removeIf(report -> report.getAccessReview().getId().equals(id));
    }

    // ---- for the session, in its thread ----

    /** @param answers whether this aggregator does */
    synchronized void welcome(boolean answers, Wakeup session) {
        bell = Optional.of(session);
        closed = answers ? "" : "the aggregator is of a version that checks no tokens";
    }

    /** The next that is not sent, once. */
    synchronized Optional<NodeReport> next() {
        return Optional.ofNullable(unsent.poll());
    }

    /** An answer to nothing that is open means nothing. */
    void heard(AccessVerdict said) {
        Optional<CompletableFuture<Verdict>> answer = find(said.getId());
        answer.ifPresent(waits -> waits.complete(verdict(said)));
    }

    private synchronized Optional<CompletableFuture<Verdict>> find(String id) {
        return Optional.ofNullable(open.get(id));
    }

    private static Verdict verdict(AccessVerdict said) {
        return switch (said.getOutcome()) {
            case ACCESS_OUTCOME_ALLOWED -> new Verdict(Outcome.ALLOWED, "");
            case ACCESS_OUTCOME_DENIED -> new Verdict(Outcome.DENIED, AccessCodec.reason(said));
            default -> Verdict.unknown(AccessCodec.reason(said));
        };
    }

    /** The connection is over. */
    void end() {
        List<CompletableFuture<Verdict>> left;
        synchronized (this) {
            closed = AWAY;
            left = new ArrayList<>(open.values());
            unsent.clear();
        }
        left.forEach(answer -> answer.complete(Verdict.unknown(AWAY)));
    }
}
