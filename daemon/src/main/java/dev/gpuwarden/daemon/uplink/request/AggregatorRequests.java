package dev.gpuwarden.daemon.uplink.request;

import dev.gpuwarden.api.v1.NodeReport;
import dev.gpuwarden.api.v1.Welcome;
import dev.gpuwarden.core.util.Wakeup;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * Requests of one kind to the aggregator, over the stream on which the node reports. A request lives as long as its connection,
 * and some seconds at most. No future is completed under the lock, since a waiting caller may hold a lock of its own.
 * Thread-safe.
 *
 * @param <A> an answer
 */
public abstract class AggregatorRequests<A> implements RequestKind {

    protected static final String AWAY = "the node has no connection to its aggregator";

    private final int most;
    private final Duration patience;
    private final String tooMany;
    private final Map<String, CompletableFuture<A>> open = new HashMap<>();
    private final Queue<NodeReport> unsent = new ArrayDeque<>();
    private Optional<Wakeup> connection = Optional.empty();
    private String closed = AWAY;
    private long number;

    /**
     * @param most requests without an answer
     * @param patience longest wait for an answer
     * @param tooMany the refusal of one more request
     */
    protected AggregatorRequests(int most, Duration patience, String tooMany) {
        this.most = most;
        this.patience = patience;
        this.tooMany = tooMany;
    }

    /** Returns why this aggregator takes no requests; empty if it does. Called under the lock. */
    protected abstract String opened(Welcome welcome);

    /** @param begun false if the request was surely not sent; otherwise the aggregator may have carried it out */
    protected abstract A unanswered(boolean begun, String why);

    /** Returns why nothing is sent now; empty if it is. */
    protected final synchronized String closed() {
        return closed;
    }

    /**
     * Sends a request. The future is completed within the patience and never fails. Does not block.
     *
     * @param prefix of the request's id
     * @param message the message with a given id
     */
    protected final synchronized CompletableFuture<A> send(String prefix, Function<String, NodeReport> message) {
        if (!closed.isEmpty() || open.size() >= most) {
            return CompletableFuture.completedFuture(unanswered(false, closed.isEmpty() ? tooMany : closed));
        }
        String id = newId(prefix);
        NodeReport request = message.apply(id);
        CompletableFuture<A> answer = new CompletableFuture<>();
        open.put(id, answer);
        add(request);
        var unused = answer.completeOnTimeout(
                        unanswered(true, "the aggregator has not answered in time"),
                        patience.toMillis(),
                        TimeUnit.MILLISECONDS)
                .whenComplete((done, failure) -> forget(id, request));
        return answer;
    }

    private synchronized void forget(String id, NodeReport request) {
        open.remove(id);
        // An unsent request without a caller is not sent.
        unsent.remove(request);
    }

    private void add(NodeReport message) {
        unsent.add(message);
        connection.ifPresent(Wakeup::signal);
    }

    /** Returns an id that no other message has. */
    protected final synchronized String newId(String prefix) {
        return prefix + ++number;
    }

    /** Sends a level, which replaces an earlier one that was not sent. */
    protected final synchronized void replace(Predicate<NodeReport> earlier, NodeReport level) {
        unsent.removeIf(earlier);
        add(level);
    }

    /** Completes the open request with this id; ignores an answer to any other. Call this without the lock. */
    protected final void answered(String id, A answer) {
        Optional<CompletableFuture<A>> waits;
        synchronized (this) {
            waits = Optional.ofNullable(open.get(id));
        }
        waits.ifPresent(future -> future.complete(answer));
    }

    @Override
    public synchronized void welcome(Welcome welcome, Wakeup session) {
        connection = Optional.of(session);
        closed = opened(welcome);
    }

    @Override
    public final synchronized Optional<NodeReport> next() {
        return Optional.ofNullable(unsent.poll());
    }

    @Override
    public final void end() {
        List<CompletableFuture<A>> left;
        synchronized (this) {
            closed = AWAY;
            left = List.copyOf(open.values());
            unsent.clear();
        }
        left.forEach(future -> future.complete(unanswered(true, AWAY)));
    }
}
