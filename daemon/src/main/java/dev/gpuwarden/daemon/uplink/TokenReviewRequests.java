package dev.gpuwarden.daemon.uplink;

import dev.gpuwarden.api.AccessCodec;
import dev.gpuwarden.api.v1.AccessVerdict;
import dev.gpuwarden.api.v1.Acknowledgement;
import dev.gpuwarden.api.v1.Welcome;
import dev.gpuwarden.daemon.page.TokenReviewer;
import dev.gpuwarden.daemon.page.TokenReviewer.Verdict;
import dev.gpuwarden.daemon.uplink.request.AggregatorRequests;
import java.util.concurrent.CompletableFuture;

/** Requests to the aggregator to review tokens for this node's page. Thread-safe. */
public final class TokenReviewRequests extends AggregatorRequests<Verdict> implements TokenReviewer {

    public TokenReviewRequests() {
        super(AccessCodec.MOST_OPEN, AccessCodec.PATIENCE, "too many tokens are being checked: try again soon");
    }

    @Override
    public CompletableFuture<Verdict> ask(String token) {
        return send("access-", id -> AccessCodec.report(id, token));
    }

    @Override
    protected String opened(Welcome welcome) {
        return welcome.getAnswersAccessReviews() ? "" : "the aggregator's version cannot check tokens";
    }

    @Override
    protected Verdict unanswered(boolean begun, String why) {
        return Verdict.unknown(why);
    }

    @Override
    public boolean received(Acknowledgement message) {
        if (message.hasAccessVerdict()) {
            AccessVerdict answer = message.getAccessVerdict();
            answered(answer.getId(), verdict(answer));
        }
        return message.hasAccessVerdict();
    }

    private static Verdict verdict(AccessVerdict answered) {
        return switch (answered.getOutcome()) {
            case ACCESS_OUTCOME_ALLOWED -> new Verdict(Outcome.ALLOWED, "");
            case ACCESS_OUTCOME_DENIED -> new Verdict(Outcome.DENIED, AccessCodec.reason(answered));
            default -> Verdict.unknown(AccessCodec.reason(answered));
        };
    }
}
