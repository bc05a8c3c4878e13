package dev.gpuwarden.core.kernel;

import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.kernel.Signal.Kind;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The explanation of XID lines by the catalogues. */
record XidReader(Supplier<Optional<Integer>> driverBranch) {

    /** The recovery action of XID 154: `from 0x0 (None) to 0x1 (GPU Reset Required)`. */
    private static final Pattern RECOVERY =
            Pattern.compile("from\\s+(\\w{1,10})\\s*(\\([^)]{0,40}\\))?\\s+to\\s+(\\w{1,10})\\s*(\\([^)]{0,40}\\))?");

    private static final Pattern CAUSE = Pattern.compile("caused by previous Xid (\\d{1,9})");
    private static final Pattern SM = Pattern.compile("GPC\\s+(\\d{1,4}),\\s*TPC\\s+(\\d{1,4}),\\s*SM\\s+(\\d{1,4})");
    private static final Pattern FAULT =
            Pattern.compile("faulted @ (0x[0-9a-fA-F_]{1,20})\\. Fault is of type (\\w{1,40})");
    private static final Pattern LINK = Pattern.compile("\\blink (\\d{1,3})\\b");

    Signal explain(XidLine line) {
        TreeMap<String, String> details = new TreeMap<>();
        line.gpuInstance().ifPresent(instance -> details.put("gpu_instance", instance));
        Matcher cause = CAUSE.matcher(line.rest());
        if (cause.find()) {
            details.put("caused_by", cause.group(1));
        }
        if (NvlinkRules.about(line.code())) {
            Optional<Signal> decoded = NvlinkRules.NvlinkLine.explain(line, driverBranch.get(), details);
            if (decoded.isPresent()) {
                return decoded.get();
            }
        }
        switch (line.code()) {
            case 13 -> put(SM, line, details, "gpc", "tpc", "sm");
            case 31 -> put(FAULT, line, details, "fault_address", "fault_type");
            case 74 -> {
                return Xid74Line.explain(line, details);
            }
            case 137 -> put(LINK, line, details, "link");
            case 154 -> {
                return recovery(line, details);
            }
            default -> {}
        }
        String code = Integer.toString(line.code());
        return XidCatalog.entry(line.code())
                .map(entry -> signal(line, code, entry.resolution(), entry.why(), details))
                .orElseGet(() -> signal(line, code, Resolution.SUPPORT, "not in " + XidCatalog.SOURCE, details));
    }

    /** Returns the signal of a line, explained by a catalogue. */
    static Signal signal(XidLine line, String code, Resolution resolution, String why, Map<String, String> details) {
        return new Signal(
                Kind.XID,
                code,
                line.pci(),
                Optional.empty(),
                line.pid(),
                line.process(),
                XidCatalog.mnemonic(line.code()).orElse(""),
                resolution.severity(),
                resolution.action(),
                why,
                details);
    }

    private static void put(Pattern pattern, XidLine line, TreeMap<String, String> details, String... names) {
        Matcher m = pattern.matcher(line.rest());
        if (m.find()) {
            for (int i = 0; i < names.length; i++) {
                details.put(names[i], m.group(i + 1));
            }
        }
    }

    /** Returns the signal of XID 154, whose line has the action. */
    private static Signal recovery(XidLine line, TreeMap<String, String> details) {
        Matcher m = RECOVERY.matcher(line.rest());
        if (!m.find()) {
            return signal(
                    line,
                    "154",
                    Resolution.SUPPORT,
                    "the recovery action that this line should name cannot be read",
                    details);
        }
        String words = m.group(4) == null
                ? ""
                : m.group(4).substring(1, m.group(4).length() - 1).strip();
        String asked = words.isEmpty() ? m.group(3) : words;
        details.put(
                "recovery_from",
                m.group(2) == null
                        ? m.group(1)
                        : m.group(2).substring(1, m.group(2).length() - 1));
        details.put("recovery_to", asked);
        return signal(line, "154", recovery(words, m.group(3)), "the driver asks for: " + asked, details);
    }

    private static Resolution recovery(String words, String number) {
        return switch (words) {
            case "None" -> Resolution.NOTHING;
            case "GPU Reset Required", "Drain and Reset" -> Resolution.RESET;
            case "Node Reboot Required" -> Resolution.REBOOT;
            // nvml.h 13.3, nvmlDeviceGpuRecoveryAction_t
            case "" ->
                switch (number) {
                    case "0x0", "0" -> Resolution.NOTHING;
                    case "0x1", "1", "0x4", "4" -> Resolution.RESET;
                    case "0x2", "2" -> Resolution.REBOOT;
                    default -> Resolution.SUPPORT;
                };
            // Draining peers, recovering IMEX: an operator decides, as with the same reading of NVML.
            default -> Resolution.fatal(RecommendedAction.CONTACT_SUPPORT);
        };
    }
}
