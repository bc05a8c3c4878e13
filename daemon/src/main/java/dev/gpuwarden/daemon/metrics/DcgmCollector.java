package dev.gpuwarden.daemon.metrics;

import dev.gpuwarden.core.holder.GpuHolders;
import dev.gpuwarden.core.kernel.XidCatalog;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.GpuIdentity.MigDevice;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.NodeSnapshot.DriverState;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import dev.gpuwarden.core.util.TsvResource;
import io.prometheus.metrics.model.snapshots.Labels;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

/**
 * This daemon's readings under dcgm-exporter's names, labels and units. An absent reading has no series; the series
 * under its own name has the cause. Memory and activity of a partitioned GPU are exported for its partitions, as in
 * dcgm-exporter, so sums over a node count nothing twice.
 */
public final class DcgmCollector {

    /** @param ofPartition whether a partitioned GPU exports it by partition */
    private record Field(Family family, GpuMetric metric, double divisor, boolean ofPartition) {}

    private static final List<Field> FIELDS = TsvResource.read(
            DcgmCollector.class,
            "dcgm.tsv",
            6,
            cell -> new Field(
                    cell[0].equals("counter") ? Family.bareCounter(cell[1], cell[5]) : Family.gauge(cell[1], cell[5]),
                    GpuMetric.valueOf(cell[2]),
                    Double.parseDouble(cell[3]),
                    cell[4].equals("partition")));

    private final Supplier<String> hostName;
    private final Supplier<Reading<Map<PciAddress, Integer>>> lastXids;
    private final Supplier<Reading<GpuHolders>> holders;
    private final NvLinkRates nvlink = new NvLinkRates();

    /**
     * @param lastXids the last Xid of each GPU that had one, by its address; absent if no kernel log is read
     * @param holders the pods that have the GPUs
     */
    public DcgmCollector(
            Supplier<String> hostName,
            Supplier<Reading<Map<PciAddress, Integer>>> lastXids,
            Supplier<Reading<GpuHolders>> holders) {
        this.hostName = hostName;
        this.lastXids = lastXids;
        this.holders = holders;
    }

    public Collector collector() {
        return new Collector("dcgm", this::collect);
    }

    private void collect(Collector.Scrape scrape, Family.Series out) {
        List<GpuSnapshot> gpus = scrape.node().gpus();
        String driver = scrape.node().driver() instanceof DriverState.Running running
                ? GpuCollector.text(running.info().driverVersion())
                : "";
        DcgmPods pods = pods(out);
        Reading<Map<PciAddress, Integer>> xids = lastXids.get();
        Map<String, Double> bandwidths = nvlink.of(gpus);
        for (GpuSnapshot gpu : gpus) {
            Labels board = board(gpu.identity(), driver);
            boolean partitioned = !gpu.mig().isEmpty();
            Labels labels = partitioned ? board : board.merge(pods.of(gpu.identity()));
            for (Field field : FIELDS) {
                if (!(partitioned && field.ofPartition())) {
                    add(out, field, labels, gpu.frame());
                }
            }
            Double bandwidth = bandwidths.get(GpuLabels.uuid(gpu.identity()));
            if (bandwidth != null) {
                out.add("DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL", labels, bandwidth);
            }
            if (xids instanceof Reading.Present<Map<PciAddress, Integer>> known) {
                xid(out, gpu.identity(), labels, known.value());
            }
            partitions(out, gpu, board, pods);
        }
    }

    private DcgmPods pods(Family.Series out) {
        Reading<GpuHolders> asked = holders.get();
        if (asked instanceof Reading.Present<GpuHolders> known) {
            return DcgmPods.of(known.value());
        }
        out.add(
                "gpuwarden_dcgm_pod_labels_absent",
                Labels.of("cause", ((Reading.Absent<GpuHolders>) asked).cause().label()),
                1);
        return new DcgmPods(List.of());
    }

    private static void add(Family.Series out, Field field, Labels labels, GpuFrame frame) {
        if (frame.present(field.metric())) {
            out.add(field.family(), labels, frame.raw(field.metric()) / field.divisor());
        }
    }

    /** Adds the last Xid. A GPU whose address is unknown may be any of those in the log. */
    private static void xid(Family.Series out, GpuIdentity gpu, Labels labels, Map<PciAddress, Integer> last) {
        if (gpu.pci() instanceof Reading.Present<PciAddress> pci) {
            PciAddress at = pci.value();
            int code = last.getOrDefault(new PciAddress(at.domain(), at.bus(), at.device(), 0), 0);
            String name = code == 0 ? "No Error" : XidCatalog.mnemonic(code).orElse("Unknown Error");
            out.add(
                    "DCGM_FI_DEV_XID_ERRORS",
                    labels.merge(Labels.of("err_code", Integer.toString(code), "err_msg", name)),
                    code);
        }
    }

    /** Adds one series for each GPU instance: values that its compute instances share are exported once. */
    private void partitions(Family.Series out, GpuSnapshot gpu, Labels board, DcgmPods pods) {
        Set<Integer> exported = new HashSet<>();
        for (GpuSnapshot.MigSnapshot mig : gpu.mig()) {
            if (mig.identity().gpuInstance() instanceof Reading.Present<Integer> instance
                    && exported.add(instance.value())) {
                Labels labels = board.merge(Labels.of(
                                "GPU_I_ID", instance.value().toString(), "GPU_I_PROFILE", profile(mig.identity())))
                        .merge(pods.of(gpu.identity(), instance.value()));
                for (Field field : FIELDS) {
                    if (field.ofPartition()) {
                        add(out, field, labels, mig.frame());
                    }
                }
            }
        }
    }

    /** Returns the profile of the GPU instance. The name of a smaller compute instance has a prefix: "1c.3g.20gb". */
    private static String profile(MigDevice mig) {
        return GpuCollector.text(mig.profile()).replaceFirst("^[0-9]+c\\.", "");
    }

    /**
     * Returns the labels of the board. The host's name is in two of them: the exporter spelled it with a capital until
     * 2026-05.
     */
    private Labels board(GpuIdentity gpu, String driver) {
        String host = hostName.get();
        return Labels.of(
                "gpu", Integer.toString(gpu.index()),
                "UUID", GpuLabels.uuid(gpu),
                "pci_bus_id", gpu.pci().asOptional().map(DcgmCollector::busId).orElse(""),
                "device",
                        gpu.minor().asOptional().map(minor -> "nvidia" + minor).orElse(""),
                "modelName", GpuCollector.text(gpu.name()),
                "Hostname", host,
                "hostname", host,
                "DCGM_FI_DRIVER_VERSION", driver);
    }

    private static String busId(PciAddress pci) {
        return String.format(Locale.ROOT, "%08X:%02X:%02X.%d", pci.domain(), pci.bus(), pci.device(), pci.function());
    }
}
