package dev.gpuwarden.aggregator.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ServerClockTest {

    private static final Instant NOW = Instant.parse("2026-06-01T00:00:00.400Z");

    private final ServerClock clock = new ServerClock(Clock.fixed(NOW, ZoneOffset.UTC));

    @Test
    void withoutAnAnswerTheTimeIsTheOwn() {
        assertThat(clock.instant()).isEqualTo(NOW);
    }

    @Test
    void clockWithinTheSecondOfTheDateIsNotCorrected() {
        clock.answered(NOW.minusMillis(5), NOW, Instant.parse("2026-06-01T00:00:00Z"));
        assertThat(clock.instant()).isEqualTo(NOW);
    }

    @ParameterizedTest
    @ValueSource(ints = {-36_000, -600, -2, 2, 600, 36_000})
    void clockThatIsWrongFollowsTheDate(int seconds) {
        Instant date = Instant.parse("2026-06-01T00:00:00Z").plusSeconds(seconds);
        clock.answered(NOW.minusMillis(5), NOW, date);
        assertThat(Duration.between(date, clock.instant())).isBetween(Duration.ZERO, Duration.ofMillis(1_005));
    }

    @Test
    void headerIsADateOrProvesNothing() {
        clock.answered(NOW, null);
        clock.answered(NOW, "yesterday");
        assertThat(clock.instant()).isEqualTo(NOW);
        clock.answered(NOW, "Mon, 01 Jun 2026 01:00:00 GMT");
        assertThat(clock.instant()).isEqualTo(Instant.parse("2026-06-01T01:00:00Z"));
    }

    @Test
    void answerThatTookLongProvesLess() {
        clock.answered(NOW.minusSeconds(30), NOW, Instant.parse("2026-05-31T23:59:45Z"));
        assertThat(clock.instant()).isEqualTo(NOW);
    }

    @Test
    void ownClockThatIsSetInTheMiddleProvesNothing() {
        clock.answered(NOW.plusSeconds(600), NOW, Instant.parse("2026-06-01T00:00:00Z"));
        assertThat(clock.instant()).isEqualTo(NOW);
    }
}
