package dev.gpuwarden.daemon.page;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.daemon.page.TokenReviewer.Outcome;
import dev.gpuwarden.daemon.page.TokenReviewer.Verdict;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class TokenVerdictCacheTest {

    private final AtomicLong now = new AtomicLong();
    private final List<String> asked = new ArrayList<>();
    private CompletableFuture<Verdict> next = CompletableFuture.completedFuture(new Verdict(Outcome.ALLOWED, ""));
    private final TokenVerdictCache verdicts = new TokenVerdictCache(
            token -> {
                asked.add(token);
                return next;
            },
            now::get);

    private void next(Outcome outcome) {
        next = CompletableFuture.completedFuture(new Verdict(outcome, "why"));
    }

    private Outcome of(String token) throws Exception {
        return of(token, 7);
    }

    private Outcome of(String token, int address) throws Exception {
        byte[] from = {10, 0, 0, (byte) address};
        return verdicts.of(token, InetAddress.getByAddress(from)).outcome();
    }

    private void later(long nanos) {
        now.addAndGet(nanos);
    }

    @Test
    void aTokenInUseIsReviewedAgainBeforeItExpires() throws Exception {
        assertThat(of("a")).isEqualTo(Outcome.ALLOWED);
        later(TokenVerdictCache.GOOD_NANOS / 2);
        next = new CompletableFuture<>();
        assertThat(of("a")).isEqualTo(Outcome.ALLOWED);
        assertThat(of("a")).isEqualTo(Outcome.ALLOWED);
        assertThat(asked).hasSize(2);
        next.complete(new Verdict(Outcome.DENIED, "his right is gone"));
        assertThat(of("a")).isEqualTo(Outcome.DENIED);
        assertThat(asked).hasSize(2);
    }

    @Test
    void aVerdictHoldsForItsTimeWhileReviewsFail() throws Exception {
        assertThat(of("a")).isEqualTo(Outcome.ALLOWED);
        next(Outcome.UNKNOWN);
        later(TokenVerdictCache.GOOD_NANOS - 1);
        assertThat(of("a")).isEqualTo(Outcome.ALLOWED);
        later(1);
        assertThat(of("a")).isEqualTo(Outcome.UNKNOWN);
        next(Outcome.ALLOWED);
        assertThat(of("a")).as("what is not known is not kept").isEqualTo(Outcome.ALLOWED);
    }

    @Test
    void aDeniedTokenIsNotReviewedAgainForAWhile() throws Exception {
        next(Outcome.DENIED);
        assertThat(of("a")).isEqualTo(Outcome.DENIED);
        next(Outcome.ALLOWED);
        assertThat(of("a")).isEqualTo(Outcome.DENIED);
        later(TokenVerdictCache.BAD_NANOS);
        assertThat(of("a")).isEqualTo(Outcome.ALLOWED);
        assertThat(asked).hasSize(2);
    }

    @Test
    void anAddressThatShowsManyTokensWaitsAndAnotherDoesNot() throws Exception {
        assertThat(of("was good", 7)).isEqualTo(Outcome.ALLOWED);
        later(TokenVerdictCache.GOOD_NANOS);
        next(Outcome.DENIED);
        for (int i = 0; i < TokenVerdictCache.BURST; i++) {
            assertThat(of("t" + i)).isEqualTo(Outcome.DENIED);
        }
        assertThat(of("one more")).isEqualTo(Outcome.UNKNOWN);
        assertThat(asked).hasSize(1 + TokenVerdictCache.BURST);
        next(Outcome.ALLOWED);
        assertThat(of("a", 8)).isEqualTo(Outcome.ALLOWED);
        assertThat(of("was good")).isEqualTo(Outcome.ALLOWED);
        later(TimeUnit.SECONDS.toNanos(5));
        assertThat(of("one more")).isEqualTo(Outcome.ALLOWED);
    }

    @Test
    void manyAddressesTogetherAskSoOftenAtMost() throws Exception {
        next(Outcome.DENIED);
        for (int i = 0; i < TokenVerdictCache.BURST_OF_ALL; i++) {
            assertThat(of("t" + i, i)).isEqualTo(Outcome.DENIED);
        }
        assertThat(of("a", 100)).isEqualTo(Outcome.UNKNOWN);
        assertThat(asked).hasSize(TokenVerdictCache.BURST_OF_ALL);
    }
}
