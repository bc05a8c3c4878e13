package dev.gpuwarden.testkit.sim;

import dev.gpuwarden.testkit.scenario.Rows;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The lines of a boot in the kernel log: kernel, devices, driver. */
final class BootLog {

    private static final String HEAD = "kernel/boot.tsv";
    /** Time between lines of the same kind. */
    private static final long APART_MICROS = 37;

    private final SimTable table;
    private final NicFiles nics;
    private final List<KernelLog.Timed> lines = new ArrayList<>();

    private BootLog(SimTable table, NicFiles nics) {
        this.table = table;
        this.nics = nics;
    }

    static List<KernelLog.Timed> of(SimTable table, NicFiles nics) {
        BootLog log = new BootLog(table, nics);
        Rows.of(HEAD).forEach(log::row);
        log.lines.sort(Comparator.comparingLong(KernelLog.Timed::micros));
        return log.lines;
    }

    private void row(String[] cells) {
        long micros = Math.round(Double.parseDouble(cells[0]) * 1e6);
        int priority = Integer.parseInt(cells[1]);
        boolean loaded = table.number("header.init_result") != NOT_LOADED;
        switch (cells[2]) {
            case "gpu" -> gpus(micros, priority, cells[3], false);
            case "driver" -> {
                if (loaded) {
                    add(micros, priority, Rows.fill(cells[3], Map.of("version", table.text("header.driver_version"))));
                }
            }
            case "driver-gpu" -> {
                if (loaded) {
                    gpus(micros, priority, cells[3], true);
                }
            }
            case "nic" -> {
                for (NicFiles.Device nic : nics.present()) {
                    add(micros, priority, Rows.fill(cells[3], nics.names(nic)));
                }
            }
            default -> add(micros, priority, cells[3]);
        }
    }

    /** NVML_ERROR_DRIVER_NOT_LOADED */
    private static final long NOT_LOADED = 9;

    private void add(long micros, int priority, String text) {
        lines.add(new KernelLog.Timed(micros, new KernelLine(priority, text, List.of())));
    }

    private void gpus(long micros, int priority, String text, boolean listedOnly) {
        for (int i = 0; i < table.number("header.gpu_count"); i++) {
            String row = TableWriter.gpu(i);
            if (!listedOnly || table.number(row + ".state") != table.layout().constant("STATE_HIDDEN")) {
                add(micros + i * APART_MICROS, priority, Rows.fill(text, names(row)));
            }
        }
    }

    private Map<String, String> names(String row) {
        String address = PciFiles.address(table, row).toString();
        long id = table.number(row + ".pci_device_id");
        return Map.of(
                "address", address,
                "pci", address.substring(0, address.length() - 2),
                "vendor", hex(id & 0xffff, 4),
                "device", hex(id >> 16 & 0xffff, 4),
                "class",
                        "0x"
                                + hex(
                                        table.number(row + ".pci_base_class") << 16
                                                | table.number(row + ".pci_sub_class") << 8,
                                        6),
                "drm", "0x" + hex(table.number(row + ".board_id"), 8),
                "minor", Long.toString(table.number(row + ".minor")),
                "uuid", table.text(row + ".uuid"),
                "serial", table.text(row + ".serial"));
    }

    private static String hex(long number, int digits) {
        return String.format(Locale.ROOT, "%0" + digits + "x", number);
    }
}
