package dev.gpuwarden.core.kernel;

import dev.gpuwarden.core.util.TsvResource;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** NVIDIA's catalogue of XIDs. Loaded on first use. */
public final class XidCatalog {

    /** The catalogue's name in explanations. */
    static final String SOURCE = "NVIDIA Xid catalogue 2025-10";

    /**
     * The codes that a program's error, its end, or another error causes. Alone they never make a GPU faulty. One fleet of 288 nodes
     * had 168,924 lines of XID 45 for 10 of all others.
     */
    private static final Set<Integer> APPLICATION = Set.of(13, 31, 43, 45, 94);

    private static final String NONE = "-";

    /**
     * A row.
     *
     * @param immediate the catalogue's word for the immediate action; "-" where it has none
     * @param investigatory the catalogue's word for the next action; "-" where it has none
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
}
