package dev.gpuwarden.daemon.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.core.check.RunningCheck;
import dev.gpuwarden.core.check.RunningCheck.Progress;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class ProgressLineTest {

    private static final Instant NOW = Instant.parse("2026-11-25T10:00:00Z");

    private final StringWriter err = new StringWriter();
    private final AtomicLong nanos = new AtomicLong();

    private ProgressLine line(boolean terminal) {
        return new ProgressLine(new PrintWriter(err), terminal, nanos::get);
    }

    @Test
    void aScriptGetsNoLineOfAShortRunAndFewOfALongOne() {
        String result = line(false).during(line -> {
            for (int second = 0; second < 15; second++) {
                nanos.set(TimeUnit.SECONDS.toNanos(second));
                line.accept("second " + second);
            }
            return "done";
        });
        assertThat(result).isEqualTo("done");
        assertThat(err.toString().lines())
                .containsExactly("gpuwarden: second 3", "gpuwarden: second 8", "gpuwarden: second 13");
    }

    @Test
    void aTerminalHasOneLineThatIsRewrittenAndRemoved() {
        boolean unused = line(true).during(line -> {
            line.accept("a longer one");
            line.accept("short");
            return true;
        });
        String longer = "gpuwarden: a longer one";
        String shorter = "gpuwarden: short";
        assertThat(err)
                .hasToString("\r" + longer + "\r" + shorter + " ".repeat(longer.length() - shorter.length()) + "\r"
                        + " ".repeat(shorter.length()) + "\r");
    }

    @Test
    void aTerminalsLineNeverWrapsNorHasControlCharacters() {
        boolean unused = line(true).during(line -> {
            line.accept("\u001b[31m" + "x".repeat(500));
            return true;
        });
        assertThat(err.toString().split("\r")[1]).hasSizeLessThanOrEqualTo(79).doesNotContain("\u001b");
    }

    @Test
    void checksAreShownWithTheirTimesAndParts() {
        List<String> lines = new ArrayList<>();
        CheckFollower follower = new CheckFollower(3, Clock.fixed(NOW, ZoneOffset.UTC), lines::add);
        CheckInfo memory = CheckInfo.of("gpumem", "GPU", "Memory.");
        CheckInfo ahead = CheckInfo.of("ahead", "GPU", "Its clock is ahead.");
        follower.running(List.of());
        follower.running(List.of(
                new RunningCheck(memory, NOW.minusSeconds(12), new Progress("memory patterns", 0, 3)),
                new RunningCheck(ahead, NOW.plusSeconds(5), Progress.NONE)));
        follower.ended(CheckResult.of(memory, NOW, Duration.ZERO, List.of()));
        follower.running(List.of());
        assertThat(lines)
                .containsExactly(
                        "0 of 3 checks ended",
                        "0 of 3 checks ended; gpumem for 12 s, 0 of 3 done: memory patterns; ahead for 0 s",
                        "1 of 3 checks ended; ahead for 0 s");
    }
}
