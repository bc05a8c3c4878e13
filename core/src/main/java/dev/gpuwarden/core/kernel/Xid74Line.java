package dev.gpuwarden.core.kernel;

import dev.gpuwarden.core.kernel.XidCatalog.XidLine;
import dev.gpuwarden.core.util.TsvResource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The rest of a line of XID 74: `NVLink: fatal error detected on link 14(0x0, 0x0, 0x10000, 0x0, 0x0, 0x0, 0x0)`. */
final class Xid74Line {

    private static final Pattern LINK = Pattern.compile("\\b[Ll]ink\\s+(\\d{1,3})\\b");
    private static final Pattern REGISTER = Pattern.compile("\\G[\\s,]*(?:0x)?([0-9a-fA-F]{1,8})\\b");
    private static final String SOURCE = XidCatalog.SOURCE + ", WORKFLOW_NVLINK_ERR";

    private Xid74Line() {}

    static Signal explain(XidLine line, Map<String, String> details) {
        Matcher link = LINK.matcher(line.rest());
        if (link.find()) {
            details.put("link", link.group(1));
        }
        List<Integer> registers = registers(line.rest());
        if (registers.size() != NvlinkRegisters.COUNT) {
            return line.signal(
                    "74",
                    Resolution.SUPPORT,
                    SOURCE + ": the line does not have the seven registers with the details",
                    details);
        }
        for (int i = 0; i < registers.size(); i++) {
            details.put("register" + (i + 1), "0x" + Integer.toHexString(registers.get(i)));
        }
        Map<String, List<String>> meanings = NvlinkRegisters.meanings(registers);
        if (meanings.isEmpty()) {
            return line.signal("74", Resolution.SUPPORT, SOURCE + ": no bit is set", details);
        }
        StringBuilder why = new StringBuilder(SOURCE).append(": ");
        meanings.forEach((meaning, bits) -> {
            details.put("class_" + meaning, String.join(",", bits));
            why.append(why.charAt(why.length() - 1) == ' ' ? "" : "; ")
                    .append(meaning)
                    .append(" (bits ")
                    .append(String.join(", ", bits))
                    .append("): ")
                    .append(advice(meaning));
        });
        return line.signal("74", NvlinkRegisters.resolution(meanings.keySet()), why.toString(), details);
    }

    private static List<Integer> registers(String rest) {
        List<Integer> registers = new ArrayList<>();
        Matcher m = REGISTER.matcher(rest);
        int open = rest.indexOf('(');
        for (boolean more = open >= 0 && m.find(open + 1);
                more && registers.size() <= NvlinkRegisters.COUNT;
                more = m.find()) {
            registers.add(Integer.parseUnsignedInt(m.group(1), 16));
        }
        return registers;
    }

    private static String advice(String meaning) {
        return switch (meaning) {
            case "ignore" -> "harmless";
            case "secondary" -> "follow the Xid or SXid beside it, report it if there is none";
            case "ecc_threshold" -> "no data was lost, go on";
            case "hw_ecc_parity" -> "likely hardware if seen more than twice on this link";
            case "hw_or_mechanical" -> "check and re-seat what the link runs through, then diagnostics";
            case "marginal_si" ->
                "weak signal: follow other errors first, else check what the link runs through, then field diagnostics";
            case "report_if_repeated" -> "report it if it repeats";
            case "field_diag_if_repeated" -> "field diagnostics if it repeats";
            case "unexpected_production" -> "not expected in production, report it";
            case "fabric_reset" -> "follow the Xid or SXid beside it; the fabric must be reset";
            default -> "not documented, report it";
        };
    }

    /** The meanings of the bits in the seven registers of an XID 74. Loaded on first use. */
    private static final class NvlinkRegisters {

        static final int COUNT = 7;
        static final String UNLISTED = "unlisted";

        private record Row(int register, int mask, String meaning) {}

        private NvlinkRegisters() {}

        private static final class Loaded {
            static final List<Row> ROWS = TsvResource.read(
                    Xid74Line.class, "xid74.tsv", 3, c -> new Row(Integer.parseInt(c[0]), mask(c[1]), c[2]));

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
}
