package dev.gpuwarden.aggregator.ingest;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.PageAuthorizer.Verdict;
import dev.gpuwarden.api.AccessCodec;
import dev.gpuwarden.api.v1.AccessReview;
import dev.gpuwarden.api.v1.AccessVerdict;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The limits of the nodes' questions; each question gets one answer. */
class AccessReviewsTest {

    private final AtomicLong now = new AtomicLong();
    private final IngestMetrics metrics = new IngestMetrics();
    private final BlockingQueue<AccessVerdict> answers = new LinkedBlockingQueue<>();
    private final CountDownLatch slow = new CountDownLatch(1);
    private final AccessReviews reviews = new AccessReviews(this::judge, metrics, now::get);

    private Verdict judge(String token, String node) throws ApiException, InterruptedException {
        switch (token) {
            case "slow" -> slow.await();
            case "dead" -> throw ApiException.noAnswer("no answer from https://10.0.0.1:443");
            case "bug" -> throw new IllegalStateException("a bug");
            default -> {}
        }
        return new Verdict(token.equals("good-" + node), token + " may not");
    }

    @AfterEach
    void close() {
        slow.countDown();
        reviews.close();
    }

    private void ask(String node, String id, String token) {
        reviews.asked(
                node,
                AccessReview.newBuilder().setId(id).setToken(token).build(),
                answer -> answers.add(answer.getAccessVerdict()));
    }

    private String answer() throws InterruptedException {
        AccessVerdict verdict = answers.poll(20, TimeUnit.SECONDS);
        assertThat(verdict).isNotNull();
        return verdict.getId() + " " + outcome(verdict) + " " + AccessCodec.reason(verdict);
    }

    private static String outcome(AccessVerdict verdict) {
        return verdict.getOutcome().name().substring("ACCESS_OUTCOME_".length());
    }

    @Test
    void tokenIsJudgedForTheNodeThatAsks() throws Exception {
        ask("n1", "1", "good-n1");
        assertThat(answer()).startsWith("1 ALLOWED");
        ask("n2", "2", "good-n1");
        assertThat(answer()).isEqualTo("2 DENIED good-n1 may not");
        assertThat(metrics.reviews.sums()).containsEntry("allowed", 1L).containsEntry("denied", 1L);
    }

    @Test
    void failedCheckIsNoVerdictAndRevealsNothing() throws Exception {
        ask("n1", "1", "dead");
        assertThat(answer()).isEqualTo("1 UNKNOWN the API server does not answer the aggregator");
        ask("n1", "2", "bug");
        assertThat(answer()).isEqualTo("2 UNKNOWN the API server does not answer the aggregator");
        ask("n1", "3", "good-n1");
        assertThat(answer()).startsWith("3 ALLOWED");
    }

    @Test
    void nodeHasFewOpenQuestionsAndBlocksNoCaller() throws Exception {
        for (int i = 0; i < AccessCodec.MOST_OPEN; i++) {
            ask("n1", "open-" + i, "slow");
        }
        ask("n1", "more", "good-n1");
        assertThat(answer()).startsWith("more UNKNOWN the node has 4 questions open");
        now.addAndGet(AccessCodec.PATIENCE.toNanos());
        slow.countDown();
        for (int i = 0; i < AccessCodec.MOST_OPEN; i++) {
            assertThat(answer()).startsWith("open-");
        }
        ask("n1", "again", "good-n1");
        assertThat(answer()).startsWith("again ALLOWED");
    }

    @Test
    void questionThatWaitedTooLongIsDropped() throws Exception {
        for (String node : new String[] {"a", "b"}) {
            ask(node, node, "slow");
        }
        ask("n1", "late", "good-n1");
        now.addAndGet(AccessCodec.PATIENCE.toNanos());
        slow.countDown();
        assertThat(answer() + answer() + answer()).contains("late UNKNOWN");
    }

    @Test
    void nodeMayAskInABurstAndThenOnceASecond() throws Exception {
        for (int i = 0; i < AccessReviews.BURST; i++) {
            ask("n1", "1", "bad");
            assertThat(answer()).startsWith("1 DENIED");
        }
        ask("n1", "2", "good-n1");
        assertThat(answer()).startsWith("2 UNKNOWN too many");
        ask("n2", "3", "good-n2");
        assertThat(answer()).startsWith("3 ALLOWED");
        now.addAndGet(TimeUnit.SECONDS.toNanos(1));
        ask("n1", "4", "good-n1");
        assertThat(answer()).startsWith("4 ALLOWED");
        assertThat(metrics.reviews.sums()).containsEntry("refused", 1L);
    }

    @Test
    void allNodesTogetherHaveOneRateLimit() throws Exception {
        for (int i = 0; i < AccessReviews.BURST_OF_ALL; i++) {
            ask("n" + i, "1", "bad");
            assertThat(answer()).startsWith("1 DENIED");
        }
        ask("another", "2", "good-another");
        assertThat(answer()).startsWith("2 UNKNOWN too many");
    }
}
