package dev.gpuwarden.watchdog.decision;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Random leaks of 1 to 100 MiB/s. A harm is missed if the leak still goes on a minute later. */
@Timeout(value = 1, unit = TimeUnit.HOURS)
class LeaksTest {

    /** -Dgpuwarden.leaks=100000 is the full run. */
    private static final int TRACES = Integer.getInteger("gpuwarden.leaks", 100);

    private static final Duration MINUTE = Duration.ofMinutes(1);

    @Test
    void atMostOneHarmInAHundredIsMissed() {
        int harmed = 0;
        int before = 0;
        List<Long> missed = new ArrayList<>();
        List<Long> wrong = new ArrayList<>();
        for (long seed = 0; seed < TRACES; seed++) {
            LeakTraces.Result result = new LeakTraces(seed).run();
            harmed += result.harm().isPresent() ? 1 : 0;
            before += result.recycle().isPresent() && result.harm().isEmpty() ? 1 : 0;
            if (result.missed(MINUTE)) {
                missed.add(seed);
            }
            if (result.recycled().filter(name -> !name.equals("leaker")).isPresent()) {
                wrong.add(seed);
            }
        }
        System.out.println(TRACES + " leaks: " + before + " stopped before any harm, " + harmed + " harmed, of these "
                + missed.size() + " missed; " + wrong.size() + " wrong tenants recycled");
        assertThat(harmed + before).isGreaterThan(TRACES / 2);
        assertThat(missed).hasSizeLessThanOrEqualTo(harmed / 100);
        assertThat(wrong).isEmpty();
    }
}
