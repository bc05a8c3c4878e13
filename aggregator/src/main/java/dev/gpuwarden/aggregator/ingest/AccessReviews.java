package dev.gpuwarden.aggregator.ingest;

import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.PageAuthorizer;
import dev.gpuwarden.api.AccessCodec;
import dev.gpuwarden.api.v1.AccessOutcome;
import dev.gpuwarden.api.v1.AccessReview;
import dev.gpuwarden.api.v1.Acknowledgement;
import dev.gpuwarden.core.limit.OpenRequests;
import dev.gpuwarden.core.limit.RateLimit;
import dev.gpuwarden.core.util.Threads;
import java.lang.System.Logger.Level;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * Reviews of the tokens that users show to nodes, by the API server. Few run at a time, in threads of their own. They are
 * bounded for each node and for all, because each may cost the API server two requests. Each question gets one answer.
 * Thread-safe.
 */
final class AccessReviews implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(AccessReviews.class.getName());

    /** The burst of one node. Then it may ask once a second. */
    static final int BURST = 10;

    private static final long EACH_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** The burst of all nodes together. Then they may ask ten times a second. */
    static final int BURST_OF_ALL = 50;

    private static final long EACH_OF_ALL_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final int MOST_NODES = 20_000;
    private static final Object ALL = new Object();

    private static final int THREADS = 2;
    private static final int QUEUE = 32;

    /** A judge of tokens, which blocks while it asks the API server. */
    interface Judge {
        PageAuthorizer.Verdict judge(String token, String node) throws ApiException, InterruptedException;
    }

    private final Judge judge;
    private final IngestMetrics metrics;
    private final LongSupplier nanoTime;
    private final RateLimit ofOne;
    private final RateLimit ofAll;
    private final ThreadPoolExecutor threads;
    private final OpenRequests open = new OpenRequests(AccessCodec.MOST_OPEN);
    private final AtomicBoolean failureLogged = new AtomicBoolean();

    AccessReviews(Judge judge, IngestMetrics metrics, LongSupplier nanoTime) {
        this.judge = judge;
        this.metrics = metrics;
        this.nanoTime = nanoTime;
        this.ofOne = new RateLimit(BURST, EACH_NANOS, MOST_NODES, nanoTime);
        this.ofAll = new RateLimit(BURST_OF_ALL, EACH_OF_ALL_NANOS, 1, nanoTime);
        this.threads = Threads.pool(THREADS, new ArrayBlockingQueue<>(QUEUE), Threads.daemon("gpuwarden-access"));
    }

    /**
     * Accepts a question. Does not block.
     *
     * @param node the node that the stream has proven
     * @param answer called once, from any thread
     */
    void asked(String node, AccessReview review, Consumer<Acknowledgement> answer) {
        if (!open.begin(node)) {
            refuse(review, "the node has " + AccessCodec.MOST_OPEN + " questions open: try again soon", answer);
            return;
        }
        if (!ofOne.take(node) || !ofAll.take(ALL)) {
            open.end(node);
            refuse(review, "too many tokens are shown: try again in some seconds", answer);
            return;
        }
        long since = nanoTime.getAsLong();
        try {
            threads.execute(() -> work(node, review, since, answer));
        } catch (RejectedExecutionException e) {
            open.end(node);
            refuse(review, "the aggregator has too many tokens to check: try again soon", answer);
        }
    }

    private void refuse(AccessReview review, String why, Consumer<Acknowledgement> answer) {
        metrics.reviews.add("refused");
        answer.accept(AccessCodec.verdict(review.getId(), AccessOutcome.ACCESS_OUTCOME_UNKNOWN, why));
    }

    private void work(String node, AccessReview review, long since, Consumer<Acknowledgement> answer) {
        PageAuthorizer.Verdict verdict =
                new PageAuthorizer.Verdict(false, "the API server does not answer the aggregator");
        AccessOutcome outcome = AccessOutcome.ACCESS_OUTCOME_UNKNOWN;
        try {
            if (nanoTime.getAsLong() - since < AccessCodec.PATIENCE.toNanos()) {
                verdict = judge.judge(review.getToken(), node);
                outcome =
                        verdict.welcome() ? AccessOutcome.ACCESS_OUTCOME_ALLOWED : AccessOutcome.ACCESS_OUTCOME_DENIED;
                failureLogged.set(false);
            }
        } catch (ApiException e) {
            failed(String.valueOf(e.getMessage()));
        } catch (RuntimeException e) {
            failed(e.toString());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            open.end(node);
            metrics.reviews.add(
                    switch (outcome) {
                        case ACCESS_OUTCOME_ALLOWED -> "allowed";
                        case ACCESS_OUTCOME_DENIED -> "denied";
                        default -> "unknown";
                    });
            answer.accept(AccessCodec.verdict(review.getId(), outcome, verdict.why()));
        }
    }

    /** Logs the first failure after a success only, because visitors of nodes decide how often failures happen. */
    private void failed(String why) {
        if (failureLogged.compareAndSet(false, true)) {
            LOG.log(Level.WARNING, "tokens that users show to nodes cannot be checked: " + why);
        }
    }

    @Override
    public void close() {
        threads.shutdownNow();
    }
}
