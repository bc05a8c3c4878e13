package dev.gpuwarden.checks.gpu;

import com.google.auto.service.AutoService;
import dev.gpuwarden.checks.LastingState;
import dev.gpuwarden.checks.node.NodePaths;
import dev.gpuwarden.checks.process.NodeMemory;
import dev.gpuwarden.checks.process.ProcessOwners;
import dev.gpuwarden.core.check.CheckContext;
import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.HealthCheck;
import dev.gpuwarden.core.check.Limits.Limit;
import dev.gpuwarden.core.health.EachGpu;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Measurement;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.process.GpuMemoryUse;
import dev.gpuwarden.core.process.GpuProcess;
import dev.gpuwarden.core.process.MemoryUse;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import dev.gpuwarden.core.util.Mib;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Function;
import java.util.function.LongConsumer;
import java.util.stream.Collectors;

/**
 * Memory that no live process holds, and GPUs that compute without a process: remains of processes that ended in the driver. WARN
 * at most, since work beside them goes on. Without a complete list of processes nothing can be concluded, so the check is skipped.
 */
@AutoService(HealthCheck.class)
public final class GhostsCheck implements HealthCheck {

    private static final String MPS_SERVER = "nvidia-cuda-mps";
    private static final Duration EVERY = Duration.ofSeconds(15);
    private static final long OLDEST_LIST_NANOS = 60_000_000_000L;

    @Override
    public CheckInfo info() {
        return CheckInfo.of("gpu-ghosts", "GPU", "No GPU is held or busy without a live process.")
                .every(EVERY);
    }

    @Override
    public List<Finding> run(CheckContext context) {
        ProcessOwners owners = new ProcessOwners(NodePaths.of(context.procfs(), context.sysfs(), context.podLogs()));
        Optional<String> hidden = owners.hiddenBecause();
        Map<String, GpuMemoryUse> memory = new NodeMemory(owners)
                .attribute(context.node()).stream()
                        .collect(Collectors.toMap(use -> use.gpu().label(), Function.identity(), (a, b) -> a));
        return EachGpu.answering(context.node(), gpu -> {
            FindingBuilder builder = new FindingBuilder(gpu, context);
            judge(builder, Objects.requireNonNull(memory.get(gpu.identity().label())), hidden);
            return builder.finding();
        });
    }

    private static void judge(FindingBuilder builder, GpuMemoryUse memory, Optional<String> hidden) {
        if (!hasCompleteList(builder, memory, hidden)) {
            return;
        }
        List<MemoryUse> uses = memory.uses().asOptional().orElseThrow();
        List<MemoryUse> live = uses.stream()
                .filter(use -> !ProcessOwners.hasEnded(use.owner()))
                .toList();
        LastOwners lastOwners = new LastOwners(builder.context(), builder.gpu().identity());
        lastOwners.seen(live);
        boolean held = memory(builder, memory, lastOwners);
        boolean busy = work(builder, live, lastOwners);
        if (!held && !busy) {
            builder.pass("no-ghosts", "its memory has live holders");
        }
    }

    /** Returns whether every process of the GPU is listed; otherwise the cause becomes a part. */
    private static boolean hasCompleteList(FindingBuilder builder, GpuMemoryUse memory, Optional<String> hidden) {
        GpuSnapshot gpu = builder.gpu();
        if (gpu.identity().migMode().equals(Reading.of(true))) {
            builder.skip("not-supported", "it is partitioned (MIG), and the board's memory is its partitions'");
        } else if (hidden.isPresent()) {
            builder.skip("processes-hidden", hidden.get());
        } else if (memory.uses() instanceof Reading.Absent<List<MemoryUse>> absent) {
            builder.absent(absent, "the list of processes");
        } else if (gpu.processesAgeNanos().asOptional().orElse(Long.MAX_VALUE) > OLDEST_LIST_NANOS) {
            builder.skip("not-read-yet", "the list of processes is more than a minute old");
        } else if (memory.uses().asOptional().orElseThrow().stream().anyMatch(GhostsCheck::isMps)) {
            builder.skip("processes-hidden", "processes share it through MPS, whose clients the driver may not list");
        } else {
            return true;
        }
        return false;
    }

    private static boolean isMps(MemoryUse use) {
        return use.process().type() == GpuProcess.Type.MPS
                || use.command()
                        .map(name -> name.startsWith(MPS_SERVER))
                        .asOptional()
                        .orElse(false);
    }

    /** Returns whether there is a part about memory. */
    private static boolean memory(FindingBuilder builder, GpuMemoryUse memory, LastOwners owners) {
        if (!builder.frame().present(GpuMetric.MEMORY_RESERVED)) {
            builder.skip("not-supported", "the driver does not separate its own memory from that of processes");
            return true;
        }
        if (memory.unattributedBytes() instanceof Reading.Absent<Long> absent) {
            builder.absent(absent, "memory without a process");
            return true;
        }
        long ghost = memory.unattributedBytes().asOptional().orElseThrow()
                + memory.uses().asOptional().orElseThrow().stream()
                        .filter(use -> ProcessOwners.hasEnded(use.owner()))
                        .mapToLong(use -> use.usedBytes().asOptional().orElse(0L))
                        .sum();
        OptionalLong total = builder.read(GpuMetric.MEMORY_TOTAL);
        Optional<Limit> amount = builder.limit("ghost_memory_mebibytes");
        Optional<Limit> share = builder.limit("ghost_memory_share");
        if (total.isEmpty() || amount.isEmpty() || share.isEmpty()) {
            return true;
        }
        double most = Math.max(amount.get().value() * (1 << 20), share.get().value() * total.getAsLong());
        String text = Mib.text(ghost) + " are in use by no live process, " + owners.text();
        if (ghost > most) {
            since(
                    builder,
                    "memory",
                    text,
                    seconds -> builder.warn(
                            "memory-without-process",
                            "expected at most " + ((long) most >> 20) + " MiB without a process, but for " + seconds
                                    + " s " + text,
                            "find holders of /dev/nvidia* with 'fuser -v', then drain the GPU and reset it",
                            new Measurement("ghost_memory_mebibytes", ghost >> 20, "at most " + ((long) most >> 20))));
            return true;
        }
        end(builder, "memory");
        return false;
    }

    /** Returns whether there is a part about work. */
    private static boolean work(FindingBuilder builder, List<MemoryUse> live, LastOwners owners) {
        Optional<Limit> most = builder.limit("ghost_utilization_share");
        if (most.isEmpty() || !builder.frame().present(GpuMetric.UTILIZATION_GPU)) {
            return false;
        }
        long percent = builder.frame().raw(GpuMetric.UTILIZATION_GPU);
        if (live.isEmpty() && percent > 100 * most.get().value()) {
            String text = "it is " + percent + " % busy without a process, " + owners.text();
            since(
                    builder,
                    "work",
                    text,
                    seconds -> builder.warn(
                            "busy-without-process",
                            "expected no work without a process, but for " + seconds + " s " + text,
                            "drain the GPU and reset it",
                            LimitText.atMost("ghost_utilization_share", percent / 100.0, most.get())));
            return true;
        }
        end(builder, "work");
        return false;
    }

    /** Adds the part of a state that lasts long enough. The notes have its start, in milliseconds since 1970. */
    private static void since(FindingBuilder builder, String state, String text, LongConsumer late) {
        CheckContext context = builder.context();
        Optional<Limit> limit = builder.limit("ghost_seconds");
        long seconds = LastingState.seen(context.notes(), note(builder, state), context.now(), EVERY)
                .toSeconds();
        if (limit.isPresent() && seconds >= limit.get().value()) {
            late.accept(seconds);
        } else {
            builder.skip("needs-time", text + ", for " + seconds + " s so far");
        }
    }

    private static void end(FindingBuilder builder, String state) {
        LastingState.over(builder.context().notes(), note(builder, state));
    }

    private static String note(FindingBuilder builder, String state) {
        return state + " of " + builder.gpu().identity().label();
    }
}
