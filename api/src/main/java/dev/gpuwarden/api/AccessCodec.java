package dev.gpuwarden.api;

import dev.gpuwarden.api.v1.AccessOutcome;
import dev.gpuwarden.api.v1.AccessReview;
import dev.gpuwarden.api.v1.AccessVerdict;
import dev.gpuwarden.api.v1.Acknowledgement;
import dev.gpuwarden.api.v1.NodeReport;
import java.time.Duration;
import java.util.regex.Pattern;

/** Whether a person's token opens a node's page, between node and aggregator. */
public final class AccessCodec {

    /** What tokens must be for: what a node is shown must be of no use at the API server. */
    public static final String AUDIENCE = "gpuwarden-page";

    /** Questions of one stream that are not answered yet. */
    public static final int MOST_OPEN = 4;

    /** How long somebody waits for an answer. */
    public static final Duration PATIENCE = Duration.ofSeconds(3);

    /** A ServiceAccount's has about 1.5 KiB. */
    private static final int LONGEST_TOKEN = 8192;

    private static final int LONGEST_REASON_BYTES = 300;
    private static final Pattern TOKEN = Pattern.compile("[-_0-9A-Za-z]+\\.[-_0-9A-Za-z]+\\.[-_0-9A-Za-z]+");

    private AccessCodec() {}

    /** Whether this can be a Kubernetes token: a JSON web token, not too long. What is none is not asked about. */
    public static boolean isToken(String text) {
        return text.length() <= LONGEST_TOKEN && TOKEN.matcher(text).matches();
    }

    /** Whether a node may ask this. */
    public static boolean isGood(AccessReview review) {
        return HoldingsCodec.isId(review.getId()) && isToken(review.getToken());
    }

    /** @param token one that {@link #isToken} */
    public static NodeReport report(String id, String token) {
        return NodeReport.newBuilder()
                .setAccessReview(AccessReview.newBuilder().setId(id).setToken(token))
                .build();
    }

    /** @param reason cut, and without what moves a terminal */
    public static Acknowledgement verdict(String id, AccessOutcome outcome, String reason) {
        return Acknowledgement.newBuilder()
                .setAccessVerdict(AccessVerdict.newBuilder()
                        .setId(id)
                        .setOutcome(outcome)
                        .setReason(Utf8.shown(reason, LONGEST_REASON_BYTES)))
                .build();
    }

    /** Why not, as it can be shown. */
    public static String reason(AccessVerdict said) {
        return Utf8.shown(said.getReason(), LONGEST_REASON_BYTES);
    }
}
