package dev.gpuwarden.daemon.metrics;

import dev.gpuwarden.checks.NodeFixture;
import dev.gpuwarden.core.holder.GpuHolder;
import dev.gpuwarden.core.holder.GpuHolders;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.process.GpuMemoryUse;
import dev.gpuwarden.core.process.GpuProcess;
import dev.gpuwarden.core.process.Owner;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.GpuState;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Hand-made nodes for cases that simulated nodes do not have: every option, GPUs that stay silent, hostile names. */
enum GoldenScenario {
    /** Everything that is off by default. */
    EVERYTHING {
        @Override
        NodeSnapshot node() {
            return NodeFixture.node(List.of(NodeFixture.gpu(0, GpuState.ANSWERING, NodeFixture.frame(), HOLDERS)));
        }

        @Override
        MetricsOptions options() {
            return MetricsOptions.of(true, true, true);
        }
    },
    /** One GPU fell off the bus, one hangs, one works. */
    LOST_AND_HUNG {
        @Override
        NodeSnapshot node() {
            return NodeFixture.node(List.of(
                    NodeFixture.gpu(0),
                    NodeFixture.gpu(1, GpuState.LOST, absent(Absence.GPU_LOST, 15), HOLDERS),
                    NodeFixture.gpu(2, GpuState.HUNG, absent(Absence.STALE, 0), HOLDERS)));
        }
    },
    /** Names that try to break out of their quotes. */
    HOSTILE {
        @Override
        NodeSnapshot node() {
            return NodeFixture.node(List.of(NodeFixture.gpu(0, GpuState.ANSWERING, NodeFixture.frame(), HOLDERS)));
        }

        @Override
        MetricsOptions options() {
            return MetricsOptions.of(true, false, false);
        }

        @Override
        Owner owner(int pid) {
            return new Owner.Unit("x\"} 1\ngpuwarden_up{a=\"\\" + pid + ".service");
        }
    };

    private static final List<GpuProcess> HOLDERS = List.of(
            NodeFixture.process(101, 20L << 30),
            NodeFixture.process(102, 8L << 30),
            NodeFixture.process(103, 4L << 30),
            NodeFixture.process(104, 2L << 30),
            NodeFixture.process(105, 1L << 30),
            NodeFixture.process(106, 1L << 29));

    abstract NodeSnapshot node();

    MetricsOptions options() {
        return MetricsOptions.of(false, false, false);
    }

    List<Collector> parts(NodeSnapshot node) {
        Collector checks = CheckedNode.collector(node);
        Map<PciAddress, Integer> xids = Map.of(new PciAddress(0, 0x1b, 0, 0), 79);
        GpuHolder holder = new GpuHolder(
                "team-a", "trainer-0", "main", GpuLabels.uuid(NodeFixture.identity(0)), GpuHolder.Kind.EXCLUSIVE, "");
        GpuHolders holders = new GpuHolders(Instant.EPOCH, List.of(holder), List.of(), 0);
        return options().dcgmNames()
                ? List.of(
                        checks,
                        new DcgmCollector(() -> "node-7", () -> Reading.of(xids), () -> Reading.of(holders))
                                .collector())
                : List.of(checks);
    }

    Owner owner(int pid) {
        return switch (pid) {
            case 101 -> NodeFixture.pod("team-a", "trainer-0", "main");
            case 102 -> NodeFixture.pod("team-b", "server", "main");
            case 103 -> new Owner.Container("docker", "d".repeat(64));
            case 104 -> new Owner.Unit("jupyter.service");
            case 105 -> new Owner.SlurmJob("4711", "0");
            default -> new Owner.Unknown("no such process");
        };
    }

    Collector.Scrape scrape() {
        NodeSnapshot node = node();
        List<GpuMemoryUse> memory = NodeFixture.memory(node, this::owner);
        return new Collector.Scrape(node, () -> memory, Scrapes.sampler(), Scrapes.SELF);
    }

    String fileName() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-') + ".prom";
    }

    private static GpuFrame absent(Absence cause, int code) {
        GpuFrame frame = new GpuFrame();
        for (int slot = 0; slot < GpuFrame.SLOTS; slot++) {
            frame.putAbsent(slot, cause, code);
        }
        return frame;
    }
}
