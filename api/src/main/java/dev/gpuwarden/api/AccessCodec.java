package dev.gpuwarden.api;

import dev.gpuwarden.api.v1.AccessOutcome;
import dev.gpuwarden.api.v1.AccessReview;
import dev.gpuwarden.api.v1.AccessVerdict;
import dev.gpuwarden.api.v1.Acknowledgement;
import dev.gpuwarden.api.v1.NodeReport;
import java.time.Duration;
import java.util.regex.Pattern;

/** The codec of questions whether a user's token permits access to a node's page, between node and aggregator. */
public final class AccessCodec {

    /** The audience that tokens must have, so that a token shown to a node is of no use at the API server. */
    public static final String AUDIENCE = "gpuwarden-page";

    /** Limit on unanswered questions of one stream. */
    public static final int MOST_OPEN = 4;

    /** Limit on the wait for an answer. */
    public static final Duration PATIENCE = Duration.ofSeconds(3);

    /** Limit on a token in characters; a ServiceAccount's has about 1.5 KiB. */
    private static final int LONGEST_TOKEN = 8192;

    private static final int LONGEST_REASON_BYTES = 300;
    private static final Pattern TOKEN = Pattern.compile("[-_0-9A-Za-z]+\\.[-_0-9A-Za-z]+\\.[-_0-9A-Za-z]+");

    private AccessCodec() {}

    /** Returns whether this has the form of a Kubernetes token: a JSON web token within the limit. Other texts are not sent. */
    public static boolean isToken(String text) {
        return text.length() <= LONGEST_TOKEN && TOKEN.matcher(text).matches();
    }

    /** Returns whether the question is valid. */
    public static boolean isGood(AccessReview review) {
        return HoldingsCodec.isId(review.getId()) && isToken(review.getToken());
    }

    /** @param token one that {@link #isToken} accepts */
    public static NodeReport report(String id, String token) {
        return NodeReport.newBuilder()
                .setAccessReview(AccessReview.newBuilder().setId(id).setToken(token))
                .build();
    }

    /** @param reason is truncated, and characters that control a terminal are replaced */
    public static Acknowledgement verdict(String id, AccessOutcome outcome, String reason) {
        return Acknowledgement.newBuilder()
                .setAccessVerdict(AccessVerdict.newBuilder()
                        .setId(id)
                        .setOutcome(outcome)
                        .setReason(Utf8.shown(reason, LONGEST_REASON_BYTES)))
                .build();
    }

    /** Returns the reason of a refusal, safe to display. */
    public static String reason(AccessVerdict said) {
        return Utf8.shown(said.getReason(), LONGEST_REASON_BYTES);
    }
}
