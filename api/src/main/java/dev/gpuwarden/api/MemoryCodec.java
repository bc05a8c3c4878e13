package dev.gpuwarden.api;

import dev.gpuwarden.api.v1.GpuMemory;
import dev.gpuwarden.api.v1.MemoryGrouping;
import dev.gpuwarden.api.v1.ProcessInfo;
import dev.gpuwarden.api.v1.ProcessType;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.process.GpuMemoryUse;
import dev.gpuwarden.core.process.GpuProcess;
import dev.gpuwarden.core.process.MemoryShare;
import dev.gpuwarden.core.process.MemoryUse;
import dev.gpuwarden.core.process.Owner;
import java.util.List;

/** The codec of the owners of GPU memory to the wire. */
public final class MemoryCodec {

    private static final EnumCodec<GpuProcess.Type, ProcessType> TYPES =
            EnumCodec.of(GpuProcess.Type.class, ProcessType.class, "PROCESS_TYPE_");

    private MemoryCodec() {}

    public static GpuMemory toWire(GpuMemoryUse gpu, MemoryGrouping grouping) {
        GpuMemory.Builder wire = GpuMemory.newBuilder()
                .setGpuIndex(gpu.gpu().index())
                .setGpuUuid(ReadingCodec.text(gpu.gpu().uuid()))
                .setUsedBytes(ReadingCodec.integer(gpu.usedBytes()))
                .setUnattributedBytes(ReadingCodec.integer(gpu.unattributedBytes()))
                .setOverattributedBytes(ReadingCodec.integer(gpu.overattributedBytes()));
        if (gpu.uses() instanceof Reading.Absent<?>) {
            return wire.setProcessesAbsent(ReadingCodec.absent(gpu.uses())).build();
        }
        if (grouping == MemoryGrouping.MEMORY_GROUPING_PROCESS) {
            gpu.uses().asOptional().orElseThrow().forEach(use -> wire.addShares(toWire(use)));
        } else {
            group(gpu, grouping).forEach(share -> wire.addShares(toWire(share)));
        }
        return wire.build();
    }

    private static List<MemoryShare> group(GpuMemoryUse gpu, MemoryGrouping grouping) {
        return switch (grouping) {
            case MEMORY_GROUPING_CONTAINER -> MemoryShare.byContainer(gpu);
            case MEMORY_GROUPING_UNIT -> MemoryShare.byUnit(gpu);
            default -> MemoryShare.byPod(gpu);
        };
    }

    private static dev.gpuwarden.api.v1.MemoryShare toWire(MemoryShare share) {
        return dev.gpuwarden.api.v1.MemoryShare.newBuilder()
                .setOwner(toWire(share.owner()))
                .setUsedBytes(ReadingCodec.integer(share.bytes()))
                .setProcessCount(share.processes())
                .build();
    }

    private static dev.gpuwarden.api.v1.MemoryShare toWire(MemoryUse use) {
        GpuProcess process = use.process();
        return dev.gpuwarden.api.v1.MemoryShare.newBuilder()
                .setOwner(toWire(use.owner()))
                .setUsedBytes(ReadingCodec.integer(use.usedBytes()))
                .setProcessCount(1)
                .setProcess(ProcessInfo.newBuilder()
                        .setPid(process.pid())
                        .setCommand(ReadingCodec.text(use.command()))
                        .setType(TYPES.toWire(process.type()))
                        .setGpuInstance(ReadingCodec.integer(process.gpuInstance()))
                        .setComputeInstance(ReadingCodec.integer(process.computeInstance())))
                .build();
    }

    private static dev.gpuwarden.api.v1.Owner toWire(Owner owner) {
        dev.gpuwarden.api.v1.Owner.Builder wire = dev.gpuwarden.api.v1.Owner.newBuilder();
        if (owner instanceof Owner.Pod pod) {
            wire.getPodBuilder()
                    .setUid(pod.uid())
                    .setNamespace(ReadingCodec.text(pod.namespace()))
                    .setName(ReadingCodec.text(pod.name()))
                    .setContainer(ReadingCodec.text(pod.container()))
                    .setContainerId(ReadingCodec.text(pod.containerId()));
        } else if (owner instanceof Owner.Container container) {
            wire.getContainerBuilder().setRuntime(container.runtime()).setContainerId(container.containerId());
        } else if (owner instanceof Owner.Unit unit) {
            wire.getUnitBuilder().setName(unit.name());
        } else if (owner instanceof Owner.SlurmJob job) {
            wire.getSlurmJobBuilder().setJobId(job.jobId()).setStep(job.step());
        } else if (owner instanceof Owner.BatchJob job) {
            wire.getBatchJobBuilder().setSystem(job.system()).setJobId(job.jobId());
        } else if (owner instanceof Owner.Guest guest) {
            wire.getGuestBuilder().setType(guest.type()).setName(guest.name());
        } else if (owner instanceof Owner.Unknown unknown) {
            wire.setUnknownCause(unknown.cause());
        }
        return wire.build();
    }
}
