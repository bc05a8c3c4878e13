package dev.gpuwarden.daemon.grpc;

import com.google.protobuf.Timestamp;
import dev.gpuwarden.api.ReadingCodec;
import dev.gpuwarden.api.Timestamps;
import dev.gpuwarden.api.v1.ListVramBudgetsResponse;
import dev.gpuwarden.api.v1.VramGpu;
import dev.gpuwarden.api.v1.VramMemory;
import dev.gpuwarden.api.v1.VramPressure;
import dev.gpuwarden.api.v1.VramTenant;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.daemon.vram.VramView;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** The codec of the VRAM watchdog's state between the daemon and its commands. */
public final class VramMessages {

    private VramMessages() {}

    static ListVramBudgetsResponse toWire(List<VramView> gpus) {
        ListVramBudgetsResponse.Builder wire = ListVramBudgetsResponse.newBuilder();
        gpus.forEach(gpu -> wire.addGpus(toWire(gpu)));
        return wire.build();
    }

    /** @throws DateTimeException if a time is outside the years of the protocol */
    public static List<VramView> fromWire(ListVramBudgetsResponse wire) {
        return wire.getGpusList().stream().map(VramMessages::fromWire).toList();
    }

    private static VramGpu toWire(VramView gpu) {
        VramGpu.Builder wire = VramGpu.newBuilder()
                .setGpuIndex(gpu.index())
                .setGpuUuid(ReadingCodec.text(gpu.uuid()))
                .setVerdict(gpu.verdict())
                .setReason(gpu.reason())
                .setDecidedAt(Timestamps.toWire(gpu.decidedAt()))
                .setTenantsLeftOut(gpu.tenantsLeftOut())
                .addAllNotices(gpu.notices());
        gpu.lastGoodAt().ifPresent(time -> wire.setLastGoodAt(Timestamps.toWire(time)));
        if (gpu.memory() instanceof Reading.Present<VramView.Memory> memory) {
            wire.setMemory(VramMemory.newBuilder()
                    .setTotalBytes(memory.value().total())
                    .setReservedBytes(memory.value().reserved())
                    .setUsedBytes(memory.value().used())
                    .setFreeBytes(memory.value().free()));
        } else {
            wire.setMemoryAbsent(ReadingCodec.absent(gpu.memory()));
        }
        gpu.pressure()
                .ifPresent(pressure -> wire.setPressure(VramPressure.newBuilder()
                        .setFloorBytes(pressure.floor())
                        .setPromisedBytes(pressure.promised())
                        .addAllTriggers(pressure.triggers())
                        .addAllStarved(pressure.starved())));
        if (gpu.tenants() instanceof Reading.Present<List<VramView.Row>> tenants) {
            tenants.value().forEach(row -> wire.addTenants(toWire(row)));
        } else {
            wire.setTenantsAbsent(ReadingCodec.absent(gpu.tenants()));
        }
        return wire.build();
    }

    private static VramTenant toWire(VramView.Row row) {
        return VramTenant.newBuilder()
                .setId(row.id())
                .setName(row.name())
                .setWorkload(row.workload())
                .setUsedBytes(ReadingCodec.integer(row.used()))
                .setBudgetBytes(ReadingCodec.integer(row.budget()))
                .setLeaving(row.leaving())
                .setSpared(row.spared())
                .build();
    }

    private static VramView fromWire(VramGpu wire) {
        Reading<VramView.Memory> memory = wire.hasMemoryAbsent()
                ? ReadingCodec.absent(wire.getMemoryAbsent())
                : Reading.of(new VramView.Memory(
                        wire.getMemory().getTotalBytes(),
                        wire.getMemory().getReservedBytes(),
                        wire.getMemory().getUsedBytes(),
                        wire.getMemory().getFreeBytes()));
        Reading<List<VramView.Row>> tenants = wire.hasTenantsAbsent()
                ? ReadingCodec.absent(wire.getTenantsAbsent())
                : Reading.of(wire.getTenantsList().stream()
                        .map(VramMessages::fromWire)
                        .toList());
        return new VramView(
                wire.getGpuIndex(),
                ReadingCodec.text(wire.getGpuUuid()),
                wire.getVerdict(),
                wire.getReason(),
                fromWire(wire.getDecidedAt()),
                wire.hasLastGoodAt() ? Optional.of(fromWire(wire.getLastGoodAt())) : Optional.empty(),
                memory,
                wire.hasPressure()
                        ? Optional.of(new VramView.Pressure(
                                wire.getPressure().getFloorBytes(),
                                wire.getPressure().getPromisedBytes(),
                                wire.getPressure().getTriggersList(),
                                wire.getPressure().getStarvedList()))
                        : Optional.empty(),
                tenants,
                wire.getTenantsLeftOut(),
                wire.getNoticesList());
    }

    private static VramView.Row fromWire(VramTenant wire) {
        return new VramView.Row(
                wire.getId(),
                wire.getName(),
                wire.getWorkload(),
                ReadingCodec.integer(wire.getUsedBytes()),
                ReadingCodec.integer(wire.getBudgetBytes()),
                wire.getLeaving(),
                wire.getSpared());
    }

    private static Instant fromWire(Timestamp time) {
        return Instant.ofEpochSecond(time.getSeconds(), time.getNanos());
    }
}
