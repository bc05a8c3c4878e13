package dev.gpuwarden.daemon.uplink;

import dev.gpuwarden.api.AccessCodec;
import dev.gpuwarden.api.v1.AccessVerdict;
import dev.gpuwarden.api.v1.NodeReport;
import dev.gpuwarden.core.util.Wakeup;
import dev.gpuwarden.daemon.page.TokenReviewer;
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
 * Requests to the aggregator to review tokens for this node's page, over the stream on which the node reports. A
 * request lives as long as its connection, and some seconds at most. No future is completed under the lock, since a
 * waiting caller may hold a lock of its own. Thread-safe.
 */
public final class TokenReviewRequests implements TokenReviewer {

    private static final String AWAY = "the node has no connection to its aggregator";

    private final Map<String, CompletableFuture<Verdict>> open = new HashMap<>();
    private final Queue<NodeReport> unsent = new ArrayDeque<>();
    private Optional<Wakeup> wakeup = Optional.empty();
    /** Why no token can be reviewed; empty while it can. */
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

    /** Returns why the token is not reviewed; empty if the request was added. */
    private synchronized String add(String token, CompletableFuture<Verdict> answer) {
        if (!closed.isEmpty()) {
            return closed;
        }
        if (open.size() >= AccessCodec.MOST_OPEN) {
            return "too many tokens are being checked: try again soon";
        }
        String id = "access-" + ++number;
        open.put(id, answer);
        unsent.add(AccessCodec.report(id, token));
        wakeup.ifPresent(Wakeup::signal);
        var unused = answer.completeOnTimeout(
                        Verdict.unknown("the aggregator has not answered in time"),
                        AccessCodec.PATIENCE.toMillis(),
                        TimeUnit.MILLISECONDS)
                .whenComplete((verdict, failure) -> forget(id));
        return "";
    }

    private synchronized void forget(String id) {
        open.remove(id);
        // An unsent request without a caller is not sent.
        unsent.removeIf(report -> report.getAccessReview().getId().equals(id));
    }

    // ---- for the session, in its thread ----

    /** @param answers true if this aggregator reviews tokens */
    synchronized void welcome(boolean answers, Wakeup session) {
        wakeup = Optional.of(session);
        closed = answers ? "" : "the aggregator's version cannot check tokens";
    }

    /** Returns the next unsent request and removes it. */
    synchronized Optional<NodeReport> next() {
        return Optional.ofNullable(unsent.poll());
    }

    /** Completes the open request; ignores an answer to any other. */
    void received(AccessVerdict answered) {
        Optional<CompletableFuture<Verdict>> answer = find(answered.getId());
        answer.ifPresent(waits -> waits.complete(verdict(answered)));
    }

    private synchronized Optional<CompletableFuture<Verdict>> find(String id) {
        return Optional.ofNullable(open.get(id));
    }

    private static Verdict verdict(AccessVerdict answered) {
        return switch (answered.getOutcome()) {
            case ACCESS_OUTCOME_ALLOWED -> new Verdict(Outcome.ALLOWED, "");
            case ACCESS_OUTCOME_DENIED -> new Verdict(Outcome.DENIED, AccessCodec.reason(answered));
            default -> Verdict.unknown(AccessCodec.reason(answered));
        };
    }

    /** Ends the connection and all open requests. */
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
