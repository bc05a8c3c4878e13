package dev.gpuwarden.daemon.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.core.check.NodeVerdict;
import dev.gpuwarden.core.health.Verdict;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class CheckDeadlineTest {

    private static final Duration WHOLE = Duration.ofSeconds(10);

    @Test
    void checksThatHangAreUndecidedAndInterrupted() throws Exception {
        CountDownLatch interrupted = new CountDownLatch(1);
        List<CheckResult> results = CheckingCommand.within(WHOLE, Duration.ofMillis(20), () -> {
            try {
                new CountDownLatch(1).await();
            } catch (InterruptedException e) {
                interrupted.countDown();
            }
            return List.of();
        });
        assertThat(NodeVerdict.of(results)).isEqualTo(Verdict.UNDECIDED);
        assertThat(results.get(0).findings())
                .singleElement()
                .matches(finding -> finding.message().equals("the checks did not end within 10s"));
        assertThat(interrupted.await(5, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void resultsInTimeAndFailuresAreUnchanged() {
        assertThat(CheckingCommand.within(WHOLE, WHOLE, List::of)).isEmpty();
        assertThatThrownBy(() -> CheckingCommand.within(WHOLE, WHOLE, () -> {
                    throw new UserError("wrong");
                }))
                .isInstanceOf(UserError.class);
    }

    @Test
    void checksHaveAShareOfTheTime() {
        assertThat(CheckingCommand.forChecks(Duration.ofSeconds(30))).isEqualTo(Duration.ofSeconds(3));
        assertThat(CheckingCommand.forChecks(Duration.ofSeconds(2))).isEqualTo(Duration.ofSeconds(1));
    }
}
