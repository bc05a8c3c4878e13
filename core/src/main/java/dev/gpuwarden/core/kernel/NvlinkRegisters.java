package dev.gpuwarden.core.kernel;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** The meanings of the bits in the seven registers of an XID 74. Loaded on first use. */
final class NvlinkRegisters {

    static final int COUNT = 7;
    static final String UNLISTED = "unlisted";

    private record Row(int register, int mask, String meaning) {}

    private NvlinkRegisters() {}

    private static final class Loaded {
        static final List<Row> ROWS =
                TsvResource.read("xid74.tsv", 3, c -> new Row(Integer.parseInt(c[0]), mask(c[1]), c[2]));

        private static int mask(String bits) {
            int mask = 0;
            for (String bit : bits.split(",", -1)) {
                mask |= 1 << Integer.parseInt(bit);
            }
            return mask;
        }
    }

    /**
     * Returns each meaning once, with its bits ("1.4" is bit 4 of the first register). Bits that are not in the table are
     * {@link #UNLISTED}. Only the first, third, fourth and fifth register are defined (Hopper).
     */
    static Map<String, List<String>> meanings(List<Integer> registers) {
        Map<String, List<String>> meanings = new TreeMap<>();
        for (int i = 0; i < registers.size(); i++) {
            int register = i + 1;
            for (int bit = 0; bit < 32; bit++) {
                if ((registers.get(i) >>> bit & 1) == 1) {
                    meanings.computeIfAbsent(meaning(register, bit), m -> new ArrayList<>())
                            .add(register + "." + bit);
                }
            }
        }
        return meanings;
    }

    private static String meaning(int register, int bit) {
        for (Row row : Loaded.ROWS) {
            if (row.register() == register && (row.mask() >>> bit & 1) == 1) {
                return row.meaning();
            }
        }
        return UNLISTED;
    }

    /** Returns the worst resolution of the meanings of one line. A meaning that counts only when it repeats is a warning. */
    static Resolution resolution(Iterable<String> meanings) {
        Optional<Resolution> worst = Optional.empty();
        for (String meaning : meanings) {
            Resolution resolution = resolution(meaning);
            if (worst.isEmpty() || rank(resolution) > rank(worst.get())) {
                worst = Optional.of(resolution);
            }
        }
        return worst.orElse(Resolution.SUPPORT);
    }

    private static Resolution resolution(String meaning) {
        return switch (meaning) {
            case "ignore" -> Resolution.NOTHING;
            case "secondary", "ecc_threshold", "hw_ecc_parity", "report_if_repeated", "field_diag_if_repeated" ->
                Resolution.WATCH;
            case "fabric_reset" -> Resolution.RESET;
            default -> Resolution.SUPPORT;
        };
    }

    private static int rank(Resolution resolution) {
        // An operator must examine the node before a reset: a mechanical fault outlives a reset.
        return resolution.severity().ordinal() * 2 + (resolution.equals(Resolution.SUPPORT) ? 1 : 0);
    }
}
