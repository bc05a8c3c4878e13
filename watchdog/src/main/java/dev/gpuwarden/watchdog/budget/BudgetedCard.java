package dev.gpuwarden.watchdog.budget;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * A memory that budgets share: a GPU, or a partition of one.
 *
 * @param name UUID; another name that the driver accepts where there is none
 * @param totalBytes physical memory
 * @param reservedBytes the driver's own part of it; absent with NOT_SUPPORTED or NO_SYMBOL where the driver does not state it
 */
public record BudgetedCard(String name, Reading<Long> totalBytes, Reading<Long> reservedBytes) {

    private static final Set<Absence> NOT_STATED = Set.of(Absence.NOT_SUPPORTED, Absence.NO_SYMBOL);

    /** Causes for which a card has no memory to share, in contrast to a memory that is not known yet. */
    private static final Set<Absence> WITHOUT_MEMORY = Set.of(
            Absence.GPU_LOST, Absence.RESET_REQUIRED, Absence.RELEASED, Absence.NOT_SUPPORTED, Absence.NO_SYMBOL);

    /** Returns the cards of a node. Partitions stand for their GPU; a GPU in MIG mode without any has no memory to share. */
    public static List<BudgetedCard> of(NodeSnapshot node) {
        List<BudgetedCard> cards = new ArrayList<>();
        for (GpuSnapshot gpu : node.gpus()) {
            if (gpu.identity().migMode().asOptional().orElse(false)) {
                gpu.mig().forEach(part -> cards.add(of(part.identity().uuid(), gpu, part.frame())));
            } else {
                cards.add(of(gpu.identity().selector(), gpu, gpu.frame()));
            }
        }
        return cards;
    }

    private static BudgetedCard of(String name, GpuSnapshot gpu, GpuFrame frame) {
        Reading<Long> total = switch (gpu.state()) {
            case LOST, GONE -> Reading.absent(Absence.GPU_LOST, 0, gpu.detail());
            case RESET_REQUIRED -> Reading.absent(Absence.RESET_REQUIRED, 0, gpu.detail());
            case RELEASED -> Reading.absent(Absence.RELEASED, 0, gpu.detail());
            case STARTING, ANSWERING, HUNG, UNREADABLE -> frame.reading(GpuMetric.MEMORY_TOTAL);
        };
        return new BudgetedCard(name, total, frame.reading(GpuMetric.MEMORY_RESERVED));
    }

    boolean withoutMemory() {
        return totalBytes instanceof Reading.Absent<Long> absent && WITHOUT_MEMORY.contains(absent.cause());
    }

    /** Returns the driver's part; 0 where the driver does not state it. */
    Reading<Long> reserve() {
        return reservedBytes instanceof Reading.Absent<Long> absent && NOT_STATED.contains(absent.cause())
                ? Reading.of(0L)
                : reservedBytes;
    }
}
