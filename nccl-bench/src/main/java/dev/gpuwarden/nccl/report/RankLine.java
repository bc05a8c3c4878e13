package dev.gpuwarden.nccl.report;

import static dev.gpuwarden.nccl.report.NumberText.right;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The GPU of a rank.
 *
 * @param group color of its group
 * @param pciAddress domain, bus and device
 */
public record RankLine(int rank, int group, long pid, String host, int device, String pciAddress, String gpuName) {

    String text() {
        return "#  Rank " + right(rank, 2) + " Group " + right(group, 2) + " Pid " + right(pid, 6) + " on "
                + right(host, 10) + " device " + right(device, 2) + " [" + pciAddress + "] " + gpuName;
    }

    Map<String, Object> tree() {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("rank", rank);
        tree.put("group", group);
        tree.put("pid", pid);
        tree.put("hostname", host);
        tree.put("device", device);
        tree.put("device_hex", pciAddress);
        tree.put("device_info", gpuName);
        return tree;
    }
}
