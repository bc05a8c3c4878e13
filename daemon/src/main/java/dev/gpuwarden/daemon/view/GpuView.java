package dev.gpuwarden.daemon.view;

import dev.gpuwarden.checks.view.Values;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.process.GpuProcess;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import dev.gpuwarden.core.telemetry.LinkMetric;
import dev.gpuwarden.core.telemetry.Unit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The JSON form of a GPU: its identity, and every reading by its name and base unit. */
public final class GpuView {

    private GpuView() {}

    public static Map<String, Object> tree(GpuSnapshot gpu) {
        GpuIdentity identity = gpu.identity();
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("index", identity.index());
        tree.put("uuid", Values.tree(identity.uuid()));
        tree.put("pci", Values.tree(identity.pci(), PciAddress::toString));
        tree.put("minor", Values.tree(identity.minor()));
        tree.put("name", Values.tree(identity.name()));
        tree.put("serial", Values.tree(identity.serial()));
        tree.put("vbios", Values.tree(identity.vbios()));
        tree.put("boardPart", Values.tree(identity.boardPart()));
        tree.put("computeCapability", Values.tree(identity.computeCapability()));
        tree.put("numaNode", Values.tree(identity.numaNode()));
        tree.put("migMode", Values.tree(identity.migMode()));
        tree.put("state", gpu.state().label());
        tree.put("detail", gpu.detail());
        tree.put("ageSeconds", Values.tree(gpu.ageNanos(), GpuView::seconds));
        tree.put("refusedValues", gpu.refusedValues());
        tree.put("readings", readings(gpu.frame()));
        tree.put("links", links(gpu.frame()));
        tree.put(
                "processes",
                Values.tree(
                        gpu.processes(),
                        list -> list.stream().map(GpuView::process).toList()));
        tree.put("processesAgeSeconds", Values.tree(gpu.processesAgeNanos(), GpuView::seconds));
        tree.put("mig", gpu.mig().stream().map(GpuView::mig).toList());
        return tree;
    }

    private static Number seconds(long nanos) {
        return Values.base(Unit.NANOSECONDS, nanos);
    }

    private static Map<String, Object> mig(GpuSnapshot.MigSnapshot mig) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("index", mig.identity().index());
        tree.put("uuid", mig.identity().uuid());
        tree.put("gpuInstance", Values.tree(mig.identity().gpuInstance()));
        tree.put("computeInstance", Values.tree(mig.identity().computeInstance()));
        tree.put("profile", Values.tree(mig.identity().profile()));
        tree.put("readings", readings(mig.frame()));
        return tree;
    }

    /** Returns every reading by its name and base unit, in the order of {@link GpuMetric}. */
    private static Map<String, Object> readings(GpuFrame frame) {
        Map<String, Object> tree = new LinkedHashMap<>();
        for (int i = 0; i < GpuMetric.count(); i++) {
            GpuMetric metric = GpuMetric.of(i);
            tree.put(key(metric.label(), metric.unit()), value(frame, i, metric.unit()));
        }
        return tree;
    }

    private static List<Map<String, Object>> links(GpuFrame frame) {
        long links = frame.present(GpuMetric.NVLINK_LINKS) ? frame.raw(GpuMetric.NVLINK_LINKS) : 0;
        List<Map<String, Object>> all = new ArrayList<>();
        for (int link = 0; link < Math.min(links, LinkMetric.MAX_LINKS); link++) {
            Map<String, Object> tree = new LinkedHashMap<>();
            tree.put("link", link);
            for (int i = 0; i < LinkMetric.count(); i++) {
                LinkMetric metric = LinkMetric.of(i);
                tree.put(key(metric.label(), metric.unit()), value(frame, GpuFrame.slot(metric, link), metric.unit()));
            }
            all.add(tree);
        }
        return all;
    }

    public static String key(String label, Unit unit) {
        return unit.base().isEmpty() ? label : label + "_" + unit.base();
    }

    private static Object value(GpuFrame frame, int slot, Unit unit) {
        return frame.present(slot)
                ? Values.base(unit, frame.raw(slot))
                : Values.absent(frame.absence(slot), frame.code(slot), "");
    }

    private static Map<String, Object> process(GpuProcess process) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("pid", process.pid());
        tree.put("type", process.type().name().toLowerCase(Locale.ROOT));
        tree.put("usedBytes", Values.tree(process.usedBytes()));
        tree.put("gpuInstance", Values.tree(process.gpuInstance()));
        tree.put("computeInstance", Values.tree(process.computeInstance()));
        return tree;
    }
}
