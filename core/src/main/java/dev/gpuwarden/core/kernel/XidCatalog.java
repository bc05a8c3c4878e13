package dev.gpuwarden.core.kernel;

import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.kernel.Signal.Kind;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.util.TsvResource;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** NVIDIA's catalogue of XIDs, which is loaded on first use, and the lines that it explains. */
public final class XidCatalog {

    /** The catalogue's name in explanations. */
    static final String SOURCE = "NVIDIA Xid catalogue 2025-10";

    /**
     * The codes that a program's error, its end, or another error causes. Alone they never make a GPU faulty. One fleet of 288 nodes
     * had 168,924 lines of XID 45 for 10 of all others.
     */
    private static final Set<Integer> APPLICATION = Set.of(13, 31, 43, 45, 94, 174);

    private static final String NONE = "-";

    /** The resolution of a code of which nothing is known. Only evidence may take a node out of service. */
    static final Resolution UNKNOWN = Resolution.WATCH;

    static final String UNKNOWN_WHY = "not in " + SOURCE + ": read about it at docs.nvidia.com/deploy/xid-errors";

    /**
     * A row.
     *
     * @param immediate the catalogue's word for the immediate action; "-" where it has none
     * @param investigatory the catalogue's word for the next action; "-" where it has none
     */
    record Entry(int code, String mnemonic, String immediate, String investigatory) {

        Resolution resolution() {
            Resolution named = immediate.equals(NONE) ? judged().resolution() : Resolution.of(immediate);
            return isApplication(code) && named.equals(Resolution.NOTHING) ? Resolution.WATCH : named;
        }

        private Judged judged() {
            return Loaded.JUDGED.getOrDefault(code, new Judged(UNKNOWN, UNKNOWN_WHY));
        }

        String why() {
            String application = isApplication(code) ? "; application class, never condemns a GPU alone" : "";
            if (immediate.equals(NONE)) {
                return SOURCE + " names no action; " + judged().why() + application;
            }
            String then = investigatory.equals(NONE) ? "" : ", then " + investigatory;
            return SOURCE + ": " + immediate + then + application;
        }
    }

    /** The judgement of gpuwarden about a code for which the catalogue names no action. */
    record Judged(Resolution resolution, String why) {

        static Judged of(String[] c) {
            return new Judged(Resolution.of(c[1], c[2]), c[3]);
        }
    }

    private XidCatalog() {}

    private static final class Loaded {
        static final Map<Integer, Judged> JUDGED =
                TsvResource.byNumber(XidCatalog.class, "xid-judged.tsv", 4, Judged::of);
        static final Map<Integer, Entry> ENTRIES = TsvResource.byNumber(
                XidCatalog.class, "xid.tsv", 4, c -> new Entry(Integer.parseInt(c[0]), c[1], c[2], c[3]));
    }

    static Optional<Entry> entry(int code) {
        return Optional.ofNullable(Loaded.ENTRIES.get(code));
    }

    /** Returns the mnemonic; empty for a code that is not in the catalogue. */
    public static Optional<String> mnemonic(int code) {
        return entry(code).map(Entry::mnemonic);
    }

    static boolean isApplication(int code) {
        return APPLICATION.contains(code);
    }

    /**
     * The parts of an XID line.
     *
     * @param pci the GPU's address; empty where the line redacts or garbles it
     * @param gpuInstance the number of the MIG instance; empty for the whole GPU
     * @param rest the text behind code, process and name
     */
    record XidLine(
            Optional<PciAddress> pci,
            Optional<String> gpuInstance,
            int code,
            Optional<String> pid,
            Optional<String> process,
            String rest) {

        /** The longest quotation of a field, in characters. Names of processes have at most 15, but a field may be forged. */
        private static final int LONGEST_FIELD = 64;

        /** The recovery action of XID 154: `from 0x0 (None) to 0x1 (GPU Reset Required)`. */
        private static final Pattern RECOVERY = Pattern.compile(
                "from\\s+(\\w{1,10})\\s*(\\([^)]{0,40}\\))?\\s+to\\s+(\\w{1,10})\\s*(\\([^)]{0,40}\\))?");

        private static final Pattern CAUSE = Pattern.compile("caused by previous Xid (\\d{1,9})");
        private static final Pattern SM =
                Pattern.compile("GPC\\s+(\\d{1,4}),\\s*TPC\\s+(\\d{1,4}),\\s*SM\\s+(\\d{1,4})");
        private static final Pattern FAULT =
                Pattern.compile("faulted @ (0x[0-9a-fA-F_]{1,20})\\. Fault is of type (\\w{1,40})");
        private static final Pattern LINK = Pattern.compile("\\blink (\\d{1,3})\\b");

        /**
         * Reads a line; empty where no device in parentheses and no code follow.
         *
         * @param cursor the position behind "Xid"
         */
        static Optional<XidLine> read(Cursor cursor) {
            if (!cursor.skipSpaces().skip("(")) {
                return Optional.empty();
            }
            int close = cursor.text.indexOf(')', cursor.at);
            if (close < 0 || close - cursor.at > LONGEST_FIELD) {
                return Optional.empty();
            }
            Cursor device = new Cursor(cursor.text.substring(cursor.at, close), 0);
            device.skipSpaces().skip("PCI:");
            Optional<PciAddress> pci =
                    PrintedAddress.read(device.skipSpaces()).filter(address -> device.atEnd() || device.peek() == ' ');
            Optional<String> instance = device.skipSpaces().skip("GPU-I:")
                    ? Optional.of(device.rest().strip())
                    : Optional.empty();
            cursor.at = close + 1;
            if (!cursor.skipSpaces().skip(":")) {
                return Optional.empty();
            }
            int code = cursor.skipSpaces().number();
            if (code < 0 || !codeEnds(cursor)) {
                return Optional.empty();
            }
            Optional<String> pid = field(cursor, "pid=");
            Optional<String> process = field(cursor, "name=");
            return Optional.of(new XidLine(pci, instance, code, pid, process, restOf(cursor)));
        }

        /** Returns whether the number is a code. The beginning of a word is none, and the number of suppressed lines is none. */
        private static boolean codeEnds(Cursor cursor) {
            return !Cursor.isWord(cursor.peek())
                    && !(cursor.peek() == ' ' && cursor.text.startsWith("callbacks suppressed", cursor.at + 1));
        }

        private static Optional<String> field(Cursor cursor, String name) {
            int start = cursor.at;
            if (!cursor.skipSpaces().skip(",") || !cursor.skipSpaces().skip(name)) {
                cursor.at = start;
                return Optional.empty();
            }
            int comma = cursor.text.indexOf(',', cursor.at);
            int stop = comma < 0 ? cursor.text.length() : comma;
            String value = cursor.text
                    .substring(cursor.at, Math.min(stop, cursor.at + LONGEST_FIELD))
                    .strip();
            cursor.at = stop;
            boolean quoted = value.length() > 1
                    && (value.charAt(0) == '\'' || value.charAt(0) == '"')
                    && value.charAt(value.length() - 1) == value.charAt(0);
            value = quoted ? value.substring(1, value.length() - 1) : value;
            return value.isEmpty() ? Optional.empty() : Optional.of(value);
        }

        private static String restOf(Cursor cursor) {
            cursor.skipSpaces().skip(",");
            return cursor.skipSpaces().rest();
        }

        /** Returns the line explained by the catalogues; looks up the driver branch for an NVLink 5 error alone. */
        Signal explain(Supplier<Optional<Integer>> driverBranch) {
            TreeMap<String, String> details = new TreeMap<>();
            gpuInstance.ifPresent(instance -> details.put("gpu_instance", instance));
            Matcher cause = CAUSE.matcher(rest);
            if (cause.find()) {
                details.put("caused_by", cause.group(1));
            }
            if (NvlinkRules.about(code)) {
                Optional<Signal> decoded = NvlinkRules.NvlinkLine.explain(this, driverBranch.get(), details);
                if (decoded.isPresent()) {
                    return decoded.get();
                }
            }
            switch (code) {
                case 13 -> put(SM, details, "gpc", "tpc", "sm");
                case 31 -> put(FAULT, details, "fault_address", "fault_type");
                case 74 -> {
                    return Xid74Line.explain(this, details);
                }
                case 137 -> put(LINK, details, "link");
                case 154 -> {
                    return recovery(details);
                }
                default -> {}
            }
            String printed = Integer.toString(code);
            return entry(code)
                    .map(entry -> signal(printed, entry.resolution(), entry.why(), details))
                    .orElseGet(() -> signal(printed, UNKNOWN, UNKNOWN_WHY, details));
        }

        /** Returns the signal of this line, explained by a catalogue. */
        Signal signal(String signalCode, Resolution resolution, String why, Map<String, String> details) {
            return new Signal(
                    Kind.XID,
                    signalCode,
                    pci,
                    Optional.empty(),
                    pid,
                    process,
                    mnemonic(code).orElse(""),
                    resolution.severity(),
                    resolution.action(),
                    why,
                    details);
        }

        private void put(Pattern pattern, TreeMap<String, String> details, String... names) {
            Matcher m = pattern.matcher(rest);
            if (m.find()) {
                for (int i = 0; i < names.length; i++) {
                    details.put(names[i], m.group(i + 1));
                }
            }
        }

        /** Returns the signal of XID 154, whose line has the action. */
        private Signal recovery(TreeMap<String, String> details) {
            Matcher m = RECOVERY.matcher(rest);
            if (!m.find()) {
                return signal(
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
            return signal("154", recovery(words, m.group(3)), "the driver asks for: " + asked, details);
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
}
