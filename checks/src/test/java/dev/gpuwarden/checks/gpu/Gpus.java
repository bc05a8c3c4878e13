package dev.gpuwarden.checks.gpu;

import dev.gpuwarden.core.check.CheckContext;
import dev.gpuwarden.core.check.GpuHistory;
import dev.gpuwarden.core.check.Limits;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Snapshots;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import dev.gpuwarden.core.telemetry.GpuState;
import dev.gpuwarden.core.telemetry.LinkMetric;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/** Hand-made GPUs. */
final class Gpus {

    private Gpus() {}

    static GpuSnapshot gpu(int index, String product, Consumer<GpuFrame> change) {
        GpuIdentity g = Snapshots.identity(index);
        GpuIdentity named = new GpuIdentity(
                g.index(),
                g.uuid(),
                g.pci(),
                g.minor(),
                Reading.of(product),
                g.serial(),
                g.vbios(),
                g.boardPart(),
                g.computeCapability(),
                g.numaNode(),
                g.migMode(),
                g.mig(),
                g.nvlinks());
        return Snapshots.gpu(named, GpuState.ANSWERING, frame -> {
            // The board offers what the test reads, and nothing else.
            for (int slot = 0; slot < GpuFrame.SLOTS; slot++) {
                if (!frame.present(slot)) {
                    frame.putAbsent(slot, Absence.NOT_SUPPORTED, 3);
                }
            }
            change.accept(frame);
        });
    }

    static GpuSnapshot gpu(Consumer<GpuFrame> change) {
        return gpu(0, "NVIDIA H100 80GB HBM3", change);
    }

    static void put(GpuFrame frame, GpuMetric metric, long value) {
        frame.put(GpuFrame.slot(metric), value);
    }

    static void absent(GpuFrame frame, Absence cause, GpuMetric... metrics) {
        for (GpuMetric metric : metrics) {
            frame.putAbsent(GpuFrame.slot(metric), cause, cause == Absence.FAILED ? 999 : 0);
        }
    }

    /** Returns a history in which every counter rose by this much and flags were set in this share of samples. */
    static GpuHistory history(Reading<Long> increase, Reading<Double> share) {
        return new GpuHistory() {
            @Override
            public Reading<Long> increase(GpuMetric counter, Duration window) {
                return increase;
            }

            @Override
            public Reading<Long> increase(int link, LinkMetric counter, Duration window) {
                return increase;
            }

            @Override
            public Reading<Double> share(GpuMetric flags, long bits, Duration window) {
                return share;
            }
        };
    }

    /** Evaluates one GPU, alone on its node and in the first run. */
    static Finding finding(GpuCheck check, GpuSnapshot gpu, GpuHistory history, Limits limits) {
        return check.finding(gpu, context(Snapshots.running(1, gpu), history, limits));
    }

    /** Returns the context of a first run. */
    static CheckContext context(NodeSnapshot node, GpuHistory history, Limits limits) {
        return new Context(node, history, limits, new HashMap<>(), Instant.EPOCH);
    }

    static CheckContext context(
            NodeSnapshot node, Map<String, Long> notes, Instant now, Optional<String> young, Path procfs) {
        return new Context(node, GpuHistory.NONE, Limits.NONE, notes, now, young, procfs);
    }

    /** The inputs of a check, with the same history for each GPU and without file trees. */
    record Context(
            NodeSnapshot node,
            GpuHistory history,
            Limits limits,
            Map<String, Long> notes,
            Instant now,
            Optional<String> young,
            Path procfs)
            implements CheckContext {

        Context(NodeSnapshot node, GpuHistory history, Limits limits, Map<String, Long> notes, Instant now) {
            this(node, history, limits, notes, now, Optional.empty());
        }

        Context(
                NodeSnapshot node,
                GpuHistory history,
                Limits limits,
                Map<String, Long> notes,
                Instant now,
                Optional<String> young) {
            this(node, history, limits, notes, now, young, Path.of("/nonexistent"));
        }

        @Override
        public GpuHistory history(GpuIdentity gpu) {
            return history;
        }

        @Override
        public Map<String, Long> bootNotes() {
            return notes;
        }

        @Override
        public Reading<Long> increase(String counter, long value, Duration window) {
            throw new UnsupportedOperationException("no counters of the node");
        }

        @Override
        public Path sysfs() {
            throw new UnsupportedOperationException("no /sys");
        }
    }
}
