package dev.gpuwarden.daemon.grpc;

import dev.gpuwarden.api.Timestamps;
import dev.gpuwarden.api.v1.Reservation;
import dev.gpuwarden.api.v1.VramGpuName;
import dev.gpuwarden.api.v1.VramNotice;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.util.Text;
import dev.gpuwarden.daemon.vram.notice.Notice;
import dev.gpuwarden.daemon.vram.reserve.Progress;

/** Messages of the watchdog to processes of this node. */
final class LocalCallMessages {

    private static final int NAME = 128;
    private static final int SENTENCE = 1024;

    private LocalCallMessages() {}

    static Reservation toWire(Progress now) {
        Reservation.Builder wire = Reservation.newBuilder()
                .setState(
                        switch (now.state()) {
                            case WAITING -> Reservation.State.WAITING;
                            case GRANTED -> Reservation.State.GRANTED;
                            case EXPIRED -> Reservation.State.EXPIRED;
                        })
                .setReason(Text.truncate(now.reason(), SENTENCE))
                .setTenant(Text.truncate(now.tenant(), NAME))
                .setUnusedBytes(now.unusedBytes())
                .setUntil(Timestamps.toWire(now.until()));
        now.gpu().ifPresent(gpu -> wire.setGpu(toWire(gpu)));
        return wire.build();
    }

    static VramNotice toWire(Notice notice) {
        return VramNotice.newBuilder()
                .setState(
                        switch (notice.state()) {
                            case NONE -> VramNotice.State.NONE;
                            case OVER_BUDGET -> VramNotice.State.OVER_BUDGET;
                            case WOULD_BE_RECYCLED -> VramNotice.State.WOULD_BE_RECYCLED;
                            case WILL_BE_RECYCLED -> VramNotice.State.WILL_BE_RECYCLED;
                        })
                .setGpu(toWire(notice.gpu()))
                .setTenant(Text.truncate(notice.tenant(), NAME))
                .setUsedBytes(notice.usedBytes())
                .setBudgetBytes(notice.budgetBytes())
                .setReason(Text.truncate(notice.reason(), SENTENCE))
                .setAt(Timestamps.toWire(notice.at()))
                .build();
    }

    private static VramGpuName toWire(GpuIdentity gpu) {
        return VramGpuName.newBuilder()
                .setIndex(gpu.index())
                .setUuid(gpu.selector())
                .build();
    }
}
