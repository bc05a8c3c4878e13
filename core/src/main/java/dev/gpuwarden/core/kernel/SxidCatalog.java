package dev.gpuwarden.core.kernel;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

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
    record Entry(int code, String name, String documented, String action, String printed) {

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
        static final Map<Integer, Entry> ENTRIES = load();

        private static Map<Integer, Entry> load() {
            Map<Integer, Entry> entries = new HashMap<>();
            TsvResource.read("sxid.tsv", 5, c -> new Entry(Integer.parseInt(c[0]), c[1], c[2], c[3], c[4].intern()))
                    .forEach(entry -> entries.put(entry.code(), entry));
            return entries;
        }
    }

    static Optional<Entry> entry(int code) {
        return Optional.ofNullable(Loaded.ENTRIES.get(code));
    }
}
