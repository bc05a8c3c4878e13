package dev.gpuwarden.aggregator.ingest;

import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.PageAuthorizer;
import dev.gpuwarden.api.AccessCodec;
import dev.gpuwarden.api.v1.AccessOutcome;
import dev.gpuwarden.api.v1.AccessReview;
import dev.gpuwarden.api.v1.Acknowledgement;
import dev.gpuwarden.api.v1.NodeReport;
import dev.gpuwarden.api.v1.NodeReport.ReportCase;
import dev.gpuwarden.api.v1.Welcome;
import dev.gpuwarden.core.limit.RateLimit;
import java.lang.System.Logger.Level;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;

/**
 * Reviews of the tokens that users show to nodes, by the API server. They are bounded, because each may cost the API server two
 * requests. Thread-safe.
 */
final class AccessReviews extends RequestWorkers<AccessReview> implements NodeMessageKind {

    private static final System.Logger LOG = System.getLogger(AccessReviews.class.getName());

    /** The burst of one node. Then it may ask once a second. */
    static final int BURST = 10;

    private static final long EACH_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** The burst of all nodes together. Then they may ask ten times a second. */
    static final int BURST_OF_ALL = 50;

    private static final long EACH_OF_ALL_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final int MOST_NODES = 20_000;
    private static final Object ALL = new Object();

    private static final int QUEUE = 32;
    private static final String NO_ANSWER = "the API server does not answer the aggregator";

    /** A judge of tokens, which blocks while it asks the API server. */
    interface Judge {
        PageAuthorizer.Verdict judge(String token, String node) throws ApiException, InterruptedException;
    }

    private final Judge judge;
    private final IngestMetrics metrics;
    private final RateLimit ofOne;
    private final RateLimit ofAll;
    private final AtomicBoolean failureLogged = new AtomicBoolean();

    AccessReviews(Judge judge, IngestMetrics metrics, LongSupplier nanoTime) {
        super("gpuwarden-access", QUEUE, AccessCodec.MOST_OPEN, AccessCodec.PATIENCE, nanoTime);
        this.judge = judge;
        this.metrics = metrics;
        this.ofOne = new RateLimit(BURST, EACH_NANOS, MOST_NODES, nanoTime);
        this.ofAll = new RateLimit(BURST_OF_ALL, EACH_OF_ALL_NANOS, 1, nanoTime);
    }

    @Override
    public Set<ReportCase> receives() {
        return Set.of(ReportCase.ACCESS_REVIEW);
    }

    @Override
    public Optional<String> violation(NodeReport message) {
        return AccessCodec.isGood(message.getAccessReview())
                ? Optional.empty()
                : Optional.of(
                        "AccessReview: expected an id of at most 64 and a JSON web token of at most 8192 characters");
    }

    @Override
    public void welcome(Welcome.Builder welcome) {
        welcome.setAnswersAccessReviews(true);
    }

    @Override
    public void received(String node, NodeLink link, NodeReport message) {
        asked(node, message.getAccessReview(), link::answer);
    }

    @Override
    protected boolean permits(String node) {
        return ofOne.take(node) && ofAll.take(ALL);
    }

    @Override
    protected Acknowledgement answer(String node, AccessReview review) throws ApiException, InterruptedException {
        PageAuthorizer.Verdict verdict = judge.judge(review.getToken(), node);
        failureLogged.set(false);
        metrics.reviews.add(verdict.welcome() ? "allowed" : "denied");
        return AccessCodec.verdict(
                review.getId(),
                verdict.welcome() ? AccessOutcome.ACCESS_OUTCOME_ALLOWED : AccessOutcome.ACCESS_OUTCOME_DENIED,
                verdict.why());
    }

    @Override
    protected Acknowledgement refused(AccessReview review, Limit limit) {
        return unknown(
                review,
                limit == Limit.AGE ? "unknown" : "refused",
                switch (limit) {
                    case OPEN -> "the node has " + AccessCodec.MOST_OPEN + " questions open: try again soon";
                    case RATE -> "too many tokens are shown: try again in some seconds";
                    case WAITING -> "the aggregator has too many tokens to check: try again soon";
                    case AGE -> NO_ANSWER;
                });
    }

    private Acknowledgement unknown(AccessReview review, String outcome, String why) {
        metrics.reviews.add(outcome);
        return AccessCodec.verdict(review.getId(), AccessOutcome.ACCESS_OUTCOME_UNKNOWN, why);
    }

    /** Logs the first failure after a success only, because visitors of nodes decide how often failures happen. */
    @Override
    protected Acknowledgement failed(String node, AccessReview review, Exception cause) {
        if (!(cause instanceof InterruptedException) && failureLogged.compareAndSet(false, true)) {
            LOG.log(
                    Level.WARNING,
                    "tokens that users show to nodes cannot be checked: "
                            + (cause instanceof ApiException ? cause.getMessage() : cause.toString()));
        }
        return unknown(review, "unknown", NO_ANSWER);
    }
}
