package dev.gpuwarden.daemon.grpc;

import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.api.v1.VramNotice;
import dev.gpuwarden.api.v1.VramServiceGrpc;
import dev.gpuwarden.api.v1.WatchNoticesRequest;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.daemon.vram.VramFixture;
import dev.gpuwarden.daemon.vram.notice.NoticeBoard;
import dev.gpuwarden.daemon.vram.reserve.Refusal;
import dev.gpuwarden.daemon.vram.reserve.Request;
import dev.gpuwarden.watchdog.decision.GpuWatchdog;
import dev.gpuwarden.watchdog.decision.RecycleHistory;
import dev.gpuwarden.watchdog.decision.RecycleRules;
import dev.gpuwarden.watchdog.observation.GpuObservation;
import dev.gpuwarden.watchdog.observation.Tenant;
import dev.gpuwarden.watchdog.pressure.PressureRules;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Notices over a real socket. */
class VramNoticesTest extends VramServiceFixture {

    /** The floor is breached and one tenant is over its budget: that of the test, or another one. */
    private void decide(int gpu, String offender, long freeMib) {
        Tenant tenant = new Tenant(
                offender,
                offender,
                offender,
                Reading.of(3000 * MIB),
                Reading.of(Math.min(14_000, 15_060 - freeMib) * MIB),
                Set.of(),
                0,
                Instant.EPOCH,
                Optional.empty(),
                false);
        GpuWatchdog watchdog =
                new GpuWatchdog(PressureRules.DEFAULT, RecycleRules.DEFAULT, new RecycleHistory(RecycleRules.DEFAULT));
        for (int reading = 1; reading <= PressureRules.DEFAULT.least(); reading++) {
            GpuObservation seen = new GpuObservation(
                    gpus.get(gpu).selector(),
                    reading,
                    reading,
                    VramFixture.memory(freeMib),
                    Reading.of(List.of(tenant)),
                    reading);
            board.decided(gpus.get(gpu), watchdog.decide(seen));
        }
    }

    @Test
    void aTenantGetsItsOwnNoticesAlone() {
        String own = "unit:batch.service";
        var notices = VramServiceGrpc.newBlockingStub(node.client.channel())
                .withDeadlineAfter(20, TimeUnit.SECONDS)
                .watchNotices(WatchNoticesRequest.getDefaultInstance());
        CompletableFuture<VramNotice> first = CompletableFuture.supplyAsync(notices::next);
        until(() -> {
            decide(0, "pod:other", 1000);
            return first.isDone();
        });
        assertThat(first.join().getState()).isEqualTo(VramNotice.State.NONE);
        assertThat(first.join().getTenant()).isEqualTo(own);
        decide(1, own, 1000);
        VramNotice notice = notices.next();
        if (notice.getState() == VramNotice.State.NONE) {
            // The first reading of that GPU; a newer state may have replaced it.
            notice = notices.next();
        }
        assertThat(notice.getState()).isEqualTo(VramNotice.State.WOULD_BE_RECYCLED);
        assertThat(notice.getGpu().getIndex()).isEqualTo(1);
        assertThat(notice.getUsedBytes() - notice.getBudgetBytes()).isEqualTo(11_000 * MIB);
        assertThat(notice.getReason()).contains("1000 MiB free, floor 1536 MiB");
        decide(1, own, 14_000);
        assertThat(notices.next().getState()).isEqualTo(VramNotice.State.NONE);
    }

    private static Request.Caller caller(long pid) {
        return new Request.Caller((int) pid, 1000, System.nanoTime(), false);
    }

    @Test
    void eachProcessOfAJobWatchesUpToSixteen() throws IOException {
        for (int pid = 1; pid <= 17; pid++) {
            process(pid, "0::/system.slice/batch.service\n");
        }
        for (int pid = 1; pid <= 16; pid++) {
            board.watch(caller(pid), notice -> {});
        }
        assertThatThrownBy(() -> board.watch(caller(17), notice -> {}))
                .hasMessageStartingWith("16 watchers of unit:batch.service are open, and 16 in all");
    }

    @Test
    void aProcessHasFourWatchersAtMost() {
        Request.Caller caller = caller(ProcessHandle.current().pid());
        List<Runnable> open = new ArrayList<>();
        for (int i = 0; i < NoticeBoard.MOST_OF_PROCESS; i++) {
            open.add(board.watch(caller, notice -> {}));
        }
        assertThatThrownBy(() -> board.watch(caller, notice -> {}))
                .isInstanceOfSatisfying(
                        Refusal.class, refusal -> assertThat(refusal.kind()).isEqualTo(Refusal.Cause.TOO_MANY))
                .hasMessageStartingWith("4 watchers of process " + caller.pid() + " are open, and 4 in all");
        open.get(0).run();
        board.watch(caller, notice -> {});
    }
}
