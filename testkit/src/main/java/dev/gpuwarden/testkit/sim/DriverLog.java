package dev.gpuwarden.testkit.sim;

import dev.gpuwarden.testkit.scenario.LineText;
import dev.gpuwarden.testkit.scenario.Rows;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The driver's lines in the kernel log about a GPU, with its present address, process and links. */
record DriverLog(SimTable table) {

    private static final Map<Integer, List<String>> XIDS = new HashMap<>();

    static {
        Rows.of("kernel/xid.tsv", 2)
                .forEach(row -> XIDS.computeIfAbsent(Integer.valueOf(row[0]), c -> new ArrayList<>())
                        .add(row[1]));
    }

    private static final List<String> ACTIONS =
            List.of("None", "GPU Reset Required", "Node Reboot Required", "Drain P2P", "Drain and Reset");
    private static final String NOBODY = "pid='<unknown>', name=<unknown>, ";

    /** Returns the lines of one XID. */
    List<KernelLine> xid(int gpu, int code) {
        Map<String, String> names = names(gpu, code);
        return XIDS.getOrDefault(code, List.of("{xid}{who}Ch 00000008")).stream()
                .map(text -> KernelLine.kernel("NVRM: " + Rows.fill(text, names)))
                .toList();
    }

    /** Returns the lines of a driver that starts and finds the GPU dead. */
    List<KernelLine> neverCame(int gpu) {
        String address = PciFiles.address(table, TableWriter.gpu(gpu)).toString();
        long id = table.number(TableWriter.gpu(gpu) + ".pci_device_id");
        return List.of(
                KernelLine.kernel(String.format(
                        Locale.ROOT,
                        "NVRM: The NVIDIA GPU %s\nNVRM: (PCI ID: %04x:%04x) installed in this system has\n"
                                + "NVRM: fallen off the bus and is not responding to commands.",
                        address,
                        id & 0xffff,
                        id >> 16 & 0xffff)),
                KernelLine.kernel("nvidia: probe of " + address + " failed with error -1"));
    }

    /** Returns the line of the process that has reset the GPU. */
    KernelLine reset(int gpu) {
        return KernelLine.user("GPU reset occurred: " + table.text(TableWriter.gpu(gpu) + ".uuid"));
    }

    /** Returns a line of a scenario with its names replaced. */
    String fill(String text, long number) {
        return LineText.fill(text, this::pci, gpu -> table.text(TableWriter.gpu(gpu) + ".uuid"), number);
    }

    /** Returns the address without its function, as the driver prints it. */
    private String pci(int gpu) {
        String address = PciFiles.address(table, TableWriter.gpu(gpu)).toString();
        return address.substring(0, address.length() - 2);
    }

    private Map<String, String> names(int gpu, int code) {
        String row = TableWriter.gpu(gpu);
        long action = table.number(row + ".recovery_action");
        int known = action > 0 && action < ACTIONS.size() ? (int) action : 1;
        Map<String, String> names = new HashMap<>();
        names.put("xid", "Xid (PCI:" + pci(gpu) + "): " + code + ", ");
        names.put("who", who(gpu));
        names.put("nobody", NOBODY);
        names.put("pci", pci(gpu));
        names.put("index", Integer.toString(gpu));
        names.put("uuid", table.text(row + ".uuid"));
        names.put("serial", table.text(row + ".serial"));
        names.put("link", Integer.toString(downLink(row)));
        names.put("link2", String.format(Locale.ROOT, "%02d", downLink(row)));
        names.put("action", "0x" + known + " (" + ACTIONS.get(known) + ")");
        return names;
    }

    private int downLink(String row) {
        for (int i = 0; i < table.number(row + ".nvlink_count"); i++) {
            if (table.number(row + ".link[" + i + "].state") == 0) {
                return i;
            }
        }
        return 0;
    }

    /** Returns the first process on the GPU. */
    private String who(int gpu) {
        for (int i = 0; i < table.number("header.process_count"); i++) {
            String process = "process[" + i + "]";
            if (table.number(process + ".gpu") == gpu) {
                String command = table.text(process + ".name");
                String name = command.substring(command.lastIndexOf('/') + 1);
                return "pid=" + table.number(process + ".pid") + ", name="
                        + name.substring(0, Math.min(15, name.length())) + ", ";
            }
        }
        return NOBODY;
    }
}
