package dev.gpuwarden.benchmarks;

import dev.gpuwarden.testkit.sim.SimTable;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.util.List;
import java.util.Locale;

/** Lines that the kernel of a node writes, about its GPUs and about other parts. */
final class KernelLines {

    /** Lines without a signal. Some begin like lines with one. */
    private static final List<String> NOISE = List.of(
            "NVRM: loading NVIDIA UNIX x86_64 Kernel Module  550.163.01  Tue Apr  8 12:41:17 UTC 2025",
            "eth0: renamed from veth#",
            "audit: type=1400 audit(1763700000.#:88): apparmor=\"STATUS\" operation=\"profile_load\" name=\"cri\"",
            "IPv6: ADDRCONF(NETDEV_CHANGE): cali#: link becomes ready",
            "mlx5_core 0000:9a:00.0 ens9np0: Link up, #",
            "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=cri,task=python3,pid=#,uid=0",
            "nvidia-uvm: Loaded the UVM driver, major device number #.",
            "[UFW BLOCK] IN=eth0 OUT= SRC=10.0.0.1 DST=10.0.0.2 LEN=40 TOS=0x00 ID=# PROTO=TCP");

    private final SimTable table;

    KernelLines(SimulatedNode node) {
        table = node.control().table();
    }

    static String noise(long number) {
        return NOISE.get((int) (number % NOISE.size())).replace("#", Long.toString(number));
    }

    String xid(int gpu, int code, long pid, String process) {
        return "NVRM: Xid (PCI:" + pci(gpu) + "): " + code + ", pid=" + pid + ", name=" + process + ", Ch 00000008";
    }

    String reset(int gpu) {
        return "GPU reset occurred: " + uuid(gpu);
    }

    String uuid(int gpu) {
        return table.text(row(gpu) + ".uuid");
    }

    /** Returns the PCI address without its function, which is the driver's form. */
    private String pci(int gpu) {
        return String.format(
                Locale.ROOT,
                "%04x:%02x:%02x",
                table.number(row(gpu) + ".pci_domain"),
                table.number(row(gpu) + ".pci_bus"),
                table.number(row(gpu) + ".pci_device"));
    }

    private static String row(int gpu) {
        return "gpu[" + gpu + "]";
    }
}
