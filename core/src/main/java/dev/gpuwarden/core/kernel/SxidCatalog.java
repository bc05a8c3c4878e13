package dev.gpuwarden.core.kernel;

import dev.gpuwarden.core.kernel.Signal.Kind;
import dev.gpuwarden.core.kernel.XidCatalog.XidLine;
import dev.gpuwarden.core.util.TsvResource;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The catalogue of SXids, the errors of NVSwitches. Loaded on first use. */
final class SxidCatalog {

    static final String SOURCE = "Fabric Manager guide v1.3 and driver 595";

    /**
     * A row.
     *
     * @param documented "non-fatal", "fatal", "always-fatal", "notable"; "~info" and "~warning" are this project's own; "-" unknown
     * @param action the guide's word for the action; "-" where it has none
     * @param printed the severities in the driver's source: F, N and U (none); "-" unknown
     */
    record Entry(String name, String documented, String action, String printed) {

        /** Returns the resolution of a line without a severity. */
        Resolution documentedResolution() {
            return switch (documented) {
                case "fatal", "always-fatal" -> fatalResolution();
                case "non-fatal" -> mildResolution();
                case "notable" -> action.startsWith("RE") ? fatalResolution() : Resolution.WATCH;
                case "~info" -> Resolution.NOTHING;
                case "~warning" -> Resolution.WATCH;
                default -> printed.equals("N") ? Resolution.WATCH : Resolution.SUPPORT;
            };
        }

        /** Returns the resolution of a line with "Non-fatal". */
        Resolution mildResolution() {
            return documented.equals("~info") || documented.equals("non-fatal") && action.equals("NONE")
                    ? Resolution.NOTHING
                    : Resolution.WATCH;
        }

        /** Returns the resolution of a line with "Fatal". */
        Resolution fatalResolution() {
            return switch (action) {
                case "RESTART_GUEST_VM" -> Resolution.of("RESTART_VM");
                // All GPUs and switches together, which no reset of one part does.
                case "RESTART_HOST_OR_RESET_FABRIC", "RESET_ALL_GPUS_AND_NVSWITCHES" -> Resolution.REBOOT;
                default -> Resolution.SUPPORT;
            };
        }

        String documentedText() {
            return switch (documented) {
                case "-" -> "not in the guide";
                case "~info", "~warning" -> "not classed in the guide";
                default -> "documented " + documented + (action.equals("-") ? "" : ", " + action);
            };
        }
    }

    private SxidCatalog() {}

    private static final class Loaded {
        static final Map<Integer, Entry> ENTRIES =
                TsvResource.byNumber(SxidCatalog.class, "sxid.tsv", 5, c -> new Entry(c[1], c[2], c[3], c[4].intern()));
    }

    static Optional<Entry> entry(int code) {
        return Optional.ofNullable(Loaded.ENTRIES.get(code));
    }

    /** A reader of SXid lines: `nvidia-nvswitch3: SXid (PCI:0000:05:00.0): 12028, Non-fatal, Link 32 egress non-posted PRIV error`. */
    static final class SxidReader {

        private static final Pattern LINK = Pattern.compile("\\bLink (-?\\d{1,4})\\b");

        /** The lines with location and raw data that the driver prints after the message. */
        private static final Pattern CONTINUATION =
                Pattern.compile("Severity (\\d) Engine instance|Data \\{|.{0,40}\\bdata\\[\\d");

        private SxidReader() {}

        /**
         * Reads a line; empty where it has no SXid.
         *
         * @param cursor the position behind "nvidia-nvswitch"
         */
        static Optional<Signal> read(Cursor cursor) {
            int number = cursor.number();
            if (!cursor.skipSpaces().skip(":") || !cursor.skipSpaces().skip("SXid")) {
                return Optional.empty();
            }
            return XidLine.read(cursor).map(line -> explain(line, number));
        }

        private static Signal explain(XidLine line, int number) {
            TreeMap<String, String> details = new TreeMap<>();
            if (number >= 0) {
                details.put("nvswitch", Integer.toString(number));
            }
            Matcher link = LINK.matcher(line.rest());
            if (link.find()) {
                details.put("link", link.group(1));
            }
            Optional<SxidCatalog.Entry> entry = SxidCatalog.entry(line.code());
            Resolution resolution;
            String why;
            if (CONTINUATION.matcher(line.rest()).lookingAt()) {
                details.put("continuation", "true");
                resolution = Resolution.NOTHING;
                why = "goes on with the SXid of the same code before it";
            } else {
                String printed = printedSeverity(line.rest());
                if (!printed.isEmpty()) {
                    details.put("printed_severity", printed);
                }
                resolution = resolution(printed, entry);
                why = SxidCatalog.SOURCE + ": "
                        + entry.map(SxidCatalog.Entry::documentedText).orElse("not known")
                        + (printed.isEmpty()
                                ? "; the driver prints no severity"
                                : "; printed as " + printed + ", which counts");
            }
            return Signal.of(Kind.SXID, Integer.toString(line.code()), resolution, why)
                    .at(line.pci())
                    .by(line.pid(), line.process())
                    .named(entry.map(SxidCatalog.Entry::name).orElse(""), details);
        }

        private static String printedSeverity(String rest) {
            if (rest.startsWith("Non-fatal") || rest.startsWith("Nonfatal")) {
                return "Non-fatal";
            }
            return rest.startsWith("Fatal") ? "Fatal" : "";
        }

        /** Returns the resolution. The printed severity wins: the driver has the chip and the path, the guide has one severity for all. */
        private static Resolution resolution(String printed, Optional<SxidCatalog.Entry> entry) {
            return switch (printed) {
                case "Fatal" -> entry.map(SxidCatalog.Entry::fatalResolution).orElse(Resolution.SUPPORT);
                case "Non-fatal" -> entry.map(SxidCatalog.Entry::mildResolution).orElse(Resolution.WATCH);
                default -> entry.map(SxidCatalog.Entry::documentedResolution).orElse(Resolution.SUPPORT);
            };
        }
    }
}
