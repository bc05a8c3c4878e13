package dev.gpuwarden.core.kernel;

import dev.gpuwarden.core.kernel.XidCatalog.XidLine;
import dev.gpuwarden.core.util.TsvResource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The meanings of the two words of an XID from 144 to 150 (NVLink 5). The first word, "interrupt info", has one layout in drivers
 * before R575 and another from then on. The second word is the error status. Loaded on first use.
 */
final class NvlinkRules {

    /** The first driver branch with the second layout. */
    static final int SECOND_LAYOUT_BRANCH = 575;

    /** A pattern of 32 bits, of which some are free. */
    private record Bits(int mask, int value) {
        static Bits of(String bits) {
            if (bits.length() != 32) {
                throw new IllegalArgumentException("expected 32 bits, seen " + bits.length());
            }
            int mask = 0;
            int value = 0;
            for (int i = 0; i < 32; i++) {
                mask = mask << 1 | (bits.charAt(i) == '-' ? 0 : 1);
                value = value << 1 | (bits.charAt(i) == '1' ? 1 : 0);
            }
            return new Bits(mask, value);
        }

        boolean fits(int word) {
            return (word & mask) == value;
        }
    }

    /** A rule in one layout: the unit's name, its pattern, and the pattern of the rule's other resolution. */
    private record Layout(String unit, Bits pattern, Optional<Bits> also) {
        static Layout of(String unit, String pattern, String also) {
            return new Layout(unit, Bits.of(pattern), also.equals("-") ? Optional.empty() : Optional.of(Bits.of(also)));
        }
    }

    /** @param statuses empty for any */
    private record Rule(
            Layout first,
            Layout second,
            List<Integer> statuses,
            String resolution,
            String alsoResolution,
            String investigatory,
            String severity) {

        Optional<Match> match(boolean useSecond, int info, Optional<Integer> status) {
            if (!statuses.isEmpty() && (status.isEmpty() || !statuses.contains(status.get()))) {
                return Optional.empty();
            }
            Layout layout = useSecond ? second : first;
            if (layout.also().isPresent() && layout.also().get().fits(info)) {
                return Optional.of(new Match(layout.unit(), alsoResolution, investigatory, severity, useSecond));
            }
            return layout.pattern().fits(info)
                    ? Optional.of(new Match(layout.unit(), resolution, investigatory, severity, useSecond))
                    : Optional.empty();
        }
    }

    /**
     * A rule that fits the words of a line.
     *
     * @param unit the part of the link unit, as the layout that fits names it
     * @param secondLayout whether the words have the layout of drivers from R575 on
     */
    record Match(String unit, String resolution, String investigatory, String severity, boolean secondLayout) {}

    private NvlinkRules() {}

    private static final class Loaded {
        static final Map<Integer, List<Rule>> RULES = load();

        private static Map<Integer, List<Rule>> load() {
            Map<Integer, List<Rule>> rules = new HashMap<>();
            TsvResource.read(
                    NvlinkRules.class,
                    "xid-nvlink5.tsv",
                    11,
                    cells -> rules.computeIfAbsent(Integer.valueOf(cells[0]), xid -> new ArrayList<>())
                            .add(rule(cells)));
            return rules;
        }

        private static Rule rule(String[] c) {
            int slash = c[1].indexOf('/');
            List<Integer> statuses = new ArrayList<>();
            for (int from = 0; !c[4].equals("any") && from < c[4].length(); from += "0x00000000|".length()) {
                statuses.add(Integer.parseUnsignedInt(c[4].substring(from + 2, from + 10), 16));
            }
            return new Rule(
                    Layout.of(slash < 0 ? c[1] : c[1].substring(0, slash), c[2], c[8]),
                    Layout.of(c[1].substring(slash + 1), c[3], c[9]),
                    List.copyOf(statuses),
                    c[5],
                    c[10],
                    c[6],
                    c[7]);
        }
    }

    /** Returns whether this table has the code. */
    static boolean about(int xid) {
        return xid >= 144 && xid <= 150;
    }

    /**
     * Returns the rule for the words of a line. No words fit a rule in both layouts, except those of XID 150, whose rules are equal in
     * both.
     *
     * @param driverBranch the major version, for example 550; empty where it is unknown, and both layouts are tried
     * @param printedUnit the unit in the line, which decides between rules that fit equally
     * @param status the second word; empty where the line ends before it
     */
    static Optional<Match> find(
            int xid, Optional<Integer> driverBranch, String printedUnit, int info, Optional<Integer> status) {
        Optional<Match> found = Optional.empty();
        for (Rule rule : Loaded.RULES.getOrDefault(xid, List.of())) {
            for (int layout = 0; layout < 2; layout++) {
                boolean second = layout == 1;
                if (driverBranch.isPresent() && second != driverBranch.get() >= SECOND_LAYOUT_BRANCH) {
                    continue;
                }
                Optional<Match> match = rule.match(second, info, status);
                if (match.isPresent() && (found.isEmpty() || match.get().unit().equals(printedUnit))) {
                    found = match;
                }
            }
        }
        return found;
    }

    /** The rest of a line of XID 144 to 150: `RLW_REMAP Nonfatal XC1 i0 Link 10 (0x00000082 0x00000040 …)`. */
    static final class NvlinkLine {

        private static final Pattern FORM = Pattern.compile(
                "(\\w[\\w/ ]{0,60}?)\\s+(Fatal|Non-?fatal)\\s+(\\S{1,20})\\s+(\\S{1,20})"
                        + "\\s+Link\\s+(-?\\d{1,4})\\s*(?:\\(\\s*(?:0x)?([0-9a-f]{1,8})\\b(?:[\\s,]+(?:0x)?([0-9a-f]{1,8})\\b)?)?",
                Pattern.CASE_INSENSITIVE);

        private static final String SOURCE = XidCatalog.SOURCE + ", decode table of 144 to 150";

        private NvlinkLine() {}

        /** Explains the line, and adds its details; empty for another form. */
        static Optional<Signal> explain(XidLine line, Optional<Integer> driverBranch, Map<String, String> details) {
            Matcher m = FORM.matcher(line.rest());
            if (!m.lookingAt()) {
                return Optional.empty();
            }
            boolean fatal = m.group(2).toLowerCase(Locale.ROOT).equals("fatal");
            details.put("unit", m.group(1));
            details.put("printed_severity", m.group(2));
            details.put("link", m.group(5));
            if (m.group(6) == null) {
                return Optional.of(
                        undecoded(line, fatal, details, "the line ends before the words that have the details"));
            }
            int info = Integer.parseUnsignedInt(m.group(6), 16);
            Optional<Integer> status = Optional.ofNullable(m.group(7)).map(hex -> Integer.parseUnsignedInt(hex, 16));
            details.put("intrinfo", hex(info));
            status.ifPresent(word -> details.put("error_status", hex(word)));
            return Optional.of(NvlinkRules.find(line.code(), driverBranch, m.group(1), info, status)
                    .map(match -> decoded(line, match, driverBranch, details))
                    .orElseGet(() -> undecoded(
                            line,
                            fatal,
                            details,
                            "no rule for " + hex(info)
                                    + status.map(word -> " " + hex(word)).orElse(""))));
        }

        private static Signal decoded(
                XidLine line, Match match, Optional<Integer> driverBranch, Map<String, String> details) {
            details.put("decoded_unit", match.unit());
            details.put("rule_severity", match.severity());
            String layout = match.secondLayout() ? "R575 and later" : "before R575";
            String which = driverBranch
                    .map(branch -> "driver branch " + branch)
                    .orElse("driver branch not known, fits the rules of " + layout);
            details.put("rule_layout", layout);
            return line.signal(
                    line.code() + "." + match.unit().replace(' ', '_'),
                    Resolution.of(match.resolution()),
                    SOURCE + ": " + match.unit() + ", " + match.resolution() + ", then " + match.investigatory() + " ("
                            + which + ")",
                    details);
        }

        /**
         * Explains an error without a rule by the severity that the driver prints. All rules for non-fatal errors ignore the error
         * or follow the XID 154 that comes with it.
         */
        private static Signal undecoded(XidLine line, boolean fatal, Map<String, String> details, String cause) {
            return line.signal(
                    Integer.toString(line.code()),
                    fatal ? Resolution.SUPPORT : Resolution.WATCH,
                    SOURCE + ": " + cause + "; the driver calls it " + (fatal ? "fatal" : "non-fatal"),
                    details);
        }

        private static String hex(int word) {
            return String.format(Locale.ROOT, "0x%08x", word);
        }
    }
}
