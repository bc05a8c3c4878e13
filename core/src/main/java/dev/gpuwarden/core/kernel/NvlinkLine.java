package dev.gpuwarden.core.kernel;

import dev.gpuwarden.core.kernel.NvlinkRules.Match;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The rest of a line of XID 144 to 150: `RLW_REMAP Nonfatal XC1 i0 Link 10 (0x00000082 0x00000040 …)`. */
final class NvlinkLine {

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
            return Optional.of(undecoded(line, fatal, details, "the line ends before the words that have the details"));
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
        return XidReader.signal(
                line,
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
        return XidReader.signal(
                line,
                Integer.toString(line.code()),
                fatal ? Resolution.SUPPORT : Resolution.WATCH,
                SOURCE + ": " + cause + "; the driver calls it " + (fatal ? "fatal" : "non-fatal"),
                details);
    }

    private static String hex(int word) {
        return String.format(Locale.ROOT, "0x%08x", word);
    }
}
