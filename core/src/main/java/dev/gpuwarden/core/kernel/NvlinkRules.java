package dev.gpuwarden.core.kernel;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The meanings of the two words of an XID from 144 to 150 (NVLink 5). The first word, "interrupt info", has one layout in drivers
 * before R575 and another from then on. The second word is the error status. Loaded on first use.
 */
final class NvlinkRules {

    /** The first driver branch with the second layout. */
    static final int SECOND_LAYOUT_BRANCH = 575;

    /** A pattern of 32 bits, of which some are free. */
    private record Pattern(int mask, int value) {
        static Pattern of(String bits) {
            if (bits.length() != 32) {
                throw new IllegalArgumentException("expected 32 bits, seen " + bits.length());
            }
            int mask = 0;
            int value = 0;
            for (int i = 0; i < 32; i++) {
                mask = mask << 1 | (bits.charAt(i) == '-' ? 0 : 1);
                value = value << 1 | (bits.charAt(i) == '1' ? 1 : 0);
            }
            return new Pattern(mask, value);
        }

        boolean fits(int word) {
            return (word & mask) == value;
        }
    }

    /** A rule in one layout: the unit's name, its pattern, and the pattern of the rule's other resolution. */
    private record Layout(String unit, Pattern pattern, Optional<Pattern> also) {
        static Layout of(String unit, String pattern, String also) {
            return new Layout(
                    unit, Pattern.of(pattern), also.equals("-") ? Optional.empty() : Optional.of(Pattern.of(also)));
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
}
