package dev.gpuwarden.daemon.metrics;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.port.DriverOpening;
import dev.gpuwarden.core.process.GpuMemoryUse;
import dev.gpuwarden.core.process.GpuProcess;
import dev.gpuwarden.core.process.Owner;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import dev.gpuwarden.core.telemetry.GpuState;
import dev.gpuwarden.core.telemetry.LinkMetric;
import dev.gpuwarden.core.telemetry.NodeSnapshot;
import java.util.List;
import java.util.Locale;

/** Nodes whose exposition is agreed word by word. */
enum GoldenScenario {
    HEALTHY {
        @Override
        NodeSnapshot node() {
            return NodeFixture.node(List.of(NodeFixture.gpu(0, GpuState.ANSWERING, NodeFixture.frame(), HOLDERS)));
        }
    },
    /** Everything that is off by default. */
    EVERYTHING {
        @Override
        NodeSnapshot node() {
            return HEALTHY.node();
        }

        @Override
        MetricsOptions options() {
            return MetricsOptions.of(true, true, true);
        }
    },
    /** One GPU fell off the bus, one hangs, one is well. */
    LOST_AND_HUNG {
        @Override
        NodeSnapshot node() {
            return NodeFixture.node(List.of(
                    NodeFixture.gpu(0),
                    NodeFixture.gpu(1, GpuState.LOST, absent(Absence.GPU_LOST, 15), HOLDERS),
                    NodeFixture.gpu(2, GpuState.HUNG, absent(Absence.STALE, 0), HOLDERS)));
        }
    },
    /** Driver 470 on a T4: version 1 of memory, no links, much that is not there. */
    OLD_DRIVER {
        @Override
        NodeSnapshot node() {
            GpuFrame frame = NodeFixture.frame();
            for (GpuMetric metric : List.of(GpuMetric.MEMORY_RESERVED, GpuMetric.RECOVERY_ACTION)) {
                frame.putAbsent(GpuFrame.slot(metric), Absence.NO_SYMBOL, 13);
            }
            for (GpuMetric metric :
                    List.of(GpuMetric.FABRIC_STATE, GpuMetric.MEMORY_TEMPERATURE, GpuMetric.NVLINK_LINKS)) {
                frame.putAbsent(GpuFrame.slot(metric), Absence.NOT_SUPPORTED, 3);
            }
            for (int link = 0; link < LinkMetric.MAX_LINKS; link++) {
                for (LinkMetric metric : LinkMetric.values()) {
                    frame.putAbsent(GpuFrame.slot(metric, link), Absence.NOT_SUPPORTED, 3);
                }
            }
            frame.putAbsent(GpuFrame.slot(GpuMetric.UTILIZATION_GPU), Absence.IMPLAUSIBLE, 0);
            NodeFixture.put(frame, GpuMetric.MEMORY_FREE, 85_520_809_984L - 42_000_000_000L);
            return NodeFixture.node(List.of(NodeFixture.gpu(0, GpuState.ANSWERING, frame, HOLDERS)));
        }
    },
    PARTITIONED {
        @Override
        NodeSnapshot node() {
            GpuFrame partition = new GpuFrame();
            NodeFixture.put(partition, GpuMetric.MEMORY_TOTAL, 10_200_547_328L);
            NodeFixture.put(partition, GpuMetric.MEMORY_RESERVED, 0);
            NodeFixture.put(partition, GpuMetric.MEMORY_USED, 1_000_000_000L);
            NodeFixture.put(partition, GpuMetric.MEMORY_FREE, 9_200_547_328L);
            GpuSnapshot whole = NodeFixture.gpu(0);
            List<GpuSnapshot.MigSnapshot> mig = List.of(
                    new GpuSnapshot.MigSnapshot(mig(0, 7), partition),
                    new GpuSnapshot.MigSnapshot(mig(1, 9), absent(Absence.NO_PERMISSION, 4)));
            return NodeFixture.node(List.of(new GpuSnapshot(
                    whole.identity(),
                    whole.state(),
                    whole.detail(),
                    whole.frame(),
                    whole.ageNanos(),
                    Reading.of(List.of(onPartition(101, 7), onPartition(101, 9), onPartition(102, 9))),
                    whole.processesAgeNanos(),
                    0,
                    mig)));
        }
    },
    NO_DRIVER {
        @Override
        NodeSnapshot node() {
            return new NodeSnapshot(
                    new NodeSnapshot.DriverState.Unavailable(
                            DriverOpening.Reason.DRIVER_NOT_LOADED, 9, "nvmlInit_v2 says that no driver is loaded"),
                    NodeFixture.node(2).pciGpus(),
                    List.of());
        }
    },
    /** Names that try to break out of their quotes. */
    HOSTILE {
        @Override
        NodeSnapshot node() {
            return HEALTHY.node();
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

    Scrape scrape() {
        NodeSnapshot node = node();
        List<GpuMemoryUse> memory = NodeFixture.memory(node, this::owner);
        return new Scrape(node, () -> memory, NodeFixture.sampler(), NodeFixture.SELF);
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

    private static GpuIdentity.MigDevice mig(int index, int gpuInstance) {
        return new GpuIdentity.MigDevice(
                index,
                "MIG-00000000-0000-0000-0000-00000000000" + index,
                Reading.of(gpuInstance),
                Reading.of(0),
                Reading.of("1g.10gb"));
    }

    private static GpuProcess onPartition(int pid, int gpuInstance) {
        return new GpuProcess(
                pid, GpuProcess.Type.COMPUTE, Reading.of(1L << 29), Reading.of(gpuInstance), Reading.of(0));
    }
}
