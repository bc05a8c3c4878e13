package dev.gpuwarden.core.kernel;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** NVIDIA's catalogue of Xids. Read when first asked. */
final class XidCatalog {

    /** How `why` names it. */
    static final String SOURCE = "NVIDIA Xid catalogue 2025-10";

    /**
     * Codes that a program's own fault, its end, or another error brings about: alone they never condemn a GPU. One fleet of 288
     * nodes saw 168,924 lines of Xid 45 for 10 of all others.
     */
    private static final Set<Integer> APPLICATION = Set.of(13, 31, 43, 45, 94);

    private static final String NONE = "-";

    /**
     * A row.
     *
     * @param immediate the word for what to do now; "-" where the catalogue has none
     * @param investigatory the word for what to do then; "-" where the catalogue has none
     */
    record Entry(int code, String mnemonic, String immediate, String investigatory) {

        Resolution resolution() {
            Resolution named = Resolution.of(immediate);
            return isApplication(code) && named.equals(Resolution.NOTHING) ? Resolution.WATCH : named;
        }

        String why() {
            if (immediate.equals(NONE)) {
                return SOURCE + ": names no action yet";
            }
            String then = investigatory.equals(NONE) ? "" : ", then " + investigatory;
            String application = isApplication(code) ? "; application class, never condemns a GPU alone" : "";
            return SOURCE + ": " + immediate + then + application;
        }
    }

    private XidCatalog() {}

    private static final class Loaded {
        static final Map<Integer, Entry> ENTRIES = load();

        private static Map<Integer, Entry> load() {
            Map<Integer, Entry> entries = new HashMap<>();
            TsvResource.read("xid.tsv", 4, c -> new Entry(Integer.parseInt(c[0]), c[1], c[2], c[3]))
                    .forEach(entry -> entries.put(entry.code(), entry));
            return entries;
        }
    }

    static Optional<Entry> entry(int code) {
        return Optional.ofNullable(Loaded.ENTRIES.get(code));
    }

    static boolean isApplication(int code) {
        return APPLICATION.contains(code);
    }
}
