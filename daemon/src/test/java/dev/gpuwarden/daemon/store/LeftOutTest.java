package dev.gpuwarden.daemon.store;

import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.core.check.NodeVerdict;
import dev.gpuwarden.core.event.EventChange;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.FaultTable;
import dev.gpuwarden.core.event.FaultTable.Effect;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.LeftOut;
import dev.gpuwarden.core.event.MissedFaults;
import dev.gpuwarden.core.event.StoredEvent;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Verdict;
import dev.gpuwarden.core.model.Reading;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * A reporter that floods: faults without room among the current ones are not lost, and the node is not fit during
 * that time.
 */
class LeftOutTest extends StoreFixture {

    private static final int SHARE = FaultTable.MOST_FAULTS / 4;

    @Test
    void faultsWithoutRoomMakeTheVerdictUnknown() {
        flood();
        assertThat(verdict()).isEqualTo(Verdict.FIT);
        store().accept(noise("late"));
        assertThat(store().leftOut().shares()).containsExactly(new LeftOut.Share("noisy", 1, 0));
        assertThat(reports(store().status().leftOut())).isEqualTo(1);
        assertThat(verdict()).isEqualTo(Verdict.UNDECIDED);
        assertThat(finding().code()).isEqualTo("faults-left-out");
        assertThat(finding().message()).contains("1 of noisy");
        reopen();
        assertThat(verdict()).isEqualTo(Verdict.UNDECIDED);
    }

    @Test
    void itIsRaisedAgainWhenThereIsRoom() {
        flood();
        store().accept(noise("late"));
        reopen();
        List<EventChange> heard = Collections.synchronizedList(new ArrayList<>());
        store().listen(heard::add);
        store().accept(over("code7"));
        until(() -> heard.size() > 1);
        assertThat(store().faults())
                .extracting(fault -> fault.key().errorCode())
                .contains("late")
                .doesNotContain("code7")
                .hasSize(SHARE);
        assertThat(heard).extracting(told -> told.change().effect()).containsExactly(Effect.CLEARED, Effect.RAISED);
        StoredEvent again = heard.get(1).stored();
        assertThat(again.event().metadata()).containsKey(MissedFaults.RAISED_AGAIN);
        assertThat(store().event(again.event().id())).contains(again);
        assertThat(store().counts().values().stream().mapToLong(n -> n).sum())
                .as("nobody handed it in a second time")
                .isEqualTo(1);
        reopen();
        assertThat(store().faults()).hasSize(SHARE);
        until(() -> store().leftOut().isEmpty());
        assertThat(verdict()).isEqualTo(Verdict.FIT);
    }

    /** A flood must not delay other events while the history is read. */
    @Test
    void aLongHistoryIsScannedInSlices() {
        flood();
        for (int i = 0; i < 450; i++) {
            store().accept(noise("late" + i));
        }
        List<EventChange> heard = Collections.synchronizedList(new ArrayList<>());
        store().listen(heard::add);
        long commits = commits();
        store().accept(over("code7"));
        until(() -> heard.size() > 1);
        assertThat(heard.get(1).stored().event().errorCodes()).containsExactly("late0");
        assertThat(commits() - commits)
                .as("the clearing, three slices of 200 events, the end")
                .isGreaterThanOrEqualTo(5);
        store().accept(over("late449"));
        until(() -> reports(store().leftOut()) == 448);
    }

    @Test
    void endedFaultsAreRemovedThoughHealthWasReportedBefore() {
        flood();
        store().accept(over("late"));
        store().accept(noise("late"));
        store().accept(over("late").toBuilder()
                .generated(clock.instant().plusSeconds(9))
                .build());
        store().accept(over("code7"));
        reopen();
        until(() -> store().leftOut().isEmpty());
        assertThat(store().faults())
                .extracting(Fault::key)
                .noneMatch(key -> key.errorCode().equals("late"));
    }

    @Test
    void itGoesWithItsEventFromTheHistory() {
        flood();
        store().accept(noise("late"));
        clock.advance(Duration.ofDays(400));
        reopen();
        until(() -> store().leftOut().isEmpty());
    }

    @Override
    StoreSettings settings() {
        StoreSettings settings = super.settings();
        settings.roomInterval = Duration.ofMillis(1);
        return settings;
    }

    private long commits() {
        return store().status().commitMicros().getTotalCount();
    }

    private void flood() {
        // Few events, since each costs; and not one alone, since the room is of text too.
        for (int i = 0; i < SHARE; i += 64) {
            store().accept(noise("").toBuilder()
                    .errorCodes(IntStream.range(i, i + 64)
                            .mapToObj(code -> "code" + code)
                            .toList())
                    .build());
        }
        assertThat(store().faults()).hasSize(SHARE);
        reopen();
    }

    private static HealthEvent noise(String code) {
        return HealthEvent.of("noisy", "NODE", "check")
                .nodeName("node-7")
                .errorCodes(List.of(code))
                .generated(Instant.parse("2026-11-21T10:00:00Z"))
                .build();
    }

    private static HealthEvent over(String code) {
        return noise(code).toBuilder().healthy(true).build();
    }

    private Finding finding() {
        return FaultRoomCheck.judge(Reading.of(store().leftOut()));
    }

    private Verdict verdict() {
        CheckInfo check = new FaultRoomCheck().info();
        return NodeVerdict.of(
                List.of(CheckResult.of(check, clock.instant(), Duration.ZERO, List.of(finding()))), store().faults());
    }

    private static long reports(LeftOut leftOut) {
        return leftOut.shares().stream().mapToLong(LeftOut.Share::reports).sum();
    }
}
