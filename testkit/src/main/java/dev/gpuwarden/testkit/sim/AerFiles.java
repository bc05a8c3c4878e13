package dev.gpuwarden.testkit.sim;

import dev.gpuwarden.testkit.scenario.AerError;
import dev.gpuwarden.testkit.scenario.Value;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** PCIe errors of devices and ports: the counter files below a device of /sys, and the kernel's lines. */
final class AerFiles {

    private static final Map<String, String> TOTALS =
            Map.of("correctable", "TOTAL_ERR_COR", "nonfatal", "TOTAL_ERR_NONFATAL", "fatal", "TOTAL_ERR_FATAL");
    private static final Map<String, String> WORDS =
            Map.of("correctable", "Corrected", "nonfatal", "Uncorrected (Non-Fatal)", "fatal", "Uncorrected (Fatal)");

    private AerFiles() {}

    /**
     * Creates the counters with the value 0. Files of equal text are one file with many names until an error is counted, since that
     * is faster.
     *
     * @param shared folder of that file
     */
    static void create(Path shared, Path device) {
        for (String severity : TOTALS.keySet()) {
            Path zero = file(shared, severity);
            if (!Files.exists(zero)) {
                Tree.write(zero, text(severity, zero(severity)));
            }
            Tree.name(file(device, severity), zero);
        }
    }

    /** Sets or adds to one counter, and its total. Returns the increase. */
    static long set(Path device, AerError error, Value value) {
        Map<String, Long> counters = read(device, error.severity());
        long before = counters.getOrDefault(error.name(), 0L);
        long after = value instanceof Value.Added added
                ? before + added.number()
                : value instanceof Value.Numbers numbers ? numbers.numbers().get(0) : 0;
        counters.put(error.name(), after);
        Tree.replace(file(device, error.severity()), text(error.severity(), counters));
        return after - before;
    }

    /** Returns the present value. */
    static long get(Path device, AerError error) {
        return read(device, error.severity()).getOrDefault(error.name(), 0L);
    }

    /**
     * Returns the kernel's lines for an error that a device reports.
     *
     * @param driver of the device, which begins its lines
     * @param port that receives the message; empty where none is shown
     */
    static List<KernelLine> lines(Path device, String driver, AerError error, String port) {
        String address = String.valueOf(device.getFileName());
        int level = error.severity().equals("correctable") ? KernelLine.WARNING : KernelLine.ERROR;
        String word = WORDS.getOrDefault(error.severity(), "");
        String ids = Tree.read(device.resolve("vendor")).strip().substring(2) + ":"
                + Tree.read(device.resolve("device")).strip().substring(2);
        List<KernelLine> lines = new ArrayList<>();
        if (!port.isEmpty()) {
            lines.add(KernelLine.device(
                    KernelLine.WARNING, port, "pcieport " + port + ": AER: " + word + " error received: " + address));
        }
        List<String> texts = List.of(
                "PCIe Bus Error: severity=" + word + ", type=" + error.layer() + ", (" + error.agent() + ")",
                String.format(Locale.ROOT, "  device [%s] error status/mask=%08x/00002000", ids, 1L << error.bit()),
                String.format(Locale.ROOT, "   [%2d] %-22s", error.bit(), error.name())
                        .stripTrailing());
        texts.forEach(text -> lines.add(KernelLine.device(level, address, driver + " " + address + ": " + text)));
        return lines;
    }

    private static Path file(Path device, String severity) {
        return device.resolve("aer_dev_" + severity);
    }

    private static Map<String, Long> read(Path device, String severity) {
        Map<String, Long> counters = zero(severity);
        for (String line : Tree.read(file(device, severity)).lines().toList()) {
            String[] words = line.split(" ");
            counters.computeIfPresent(words[0], (name, none) -> Long.parseLong(words[1]));
        }
        return counters;
    }

    private static Map<String, Long> zero(String severity) {
        Map<String, Long> counters = new LinkedHashMap<>();
        for (AerError error : AerError.ALL) {
            if (error.severity().equals(severity)) {
                counters.put(error.name(), 0L);
            }
        }
        return counters;
    }

    private static String text(String severity, Map<String, Long> counters) {
        long total = counters.values().stream().mapToLong(Long::longValue).sum();
        return counters.entrySet().stream()
                        .map(e -> e.getKey() + " " + e.getValue() + "\n")
                        .collect(Collectors.joining())
                + TOTALS.get(severity) + " " + total + "\n";
    }
}
