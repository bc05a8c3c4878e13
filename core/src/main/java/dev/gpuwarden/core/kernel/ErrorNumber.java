package dev.gpuwarden.core.kernel;

import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.kernel.Signal.Kind;
import dev.gpuwarden.core.kernel.Signal.Severity;
import dev.gpuwarden.core.util.TsvResource;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * An XID or SXID number explained by the catalogues alone, without a line of a log. Immutable. The catalogues are read at the
 * first call.
 *
 * @param kind {@code XID} or {@code SXID}
 * @param known true if a catalogue has the number; otherwise the rest is what the daemon assumes of an unknown one
 * @param name the mnemonic; empty for an unknown number
 * @param meaning one plain sentence; empty where none is written
 * @param action the recommended action; fatal is what asks for one
 * @param source the catalogue and its own words
 * @param note the reason why a line of a log can state something else; empty where it cannot
 * @param runbook path of the runbook in the repository
 */
public record ErrorNumber(
        Kind kind,
        int number,
        boolean known,
        String name,
        String meaning,
        Severity severity,
        RecommendedAction action,
        String source,
        String note,
        String runbook) {

    /** SXIDs begin here; the catalogue of XIDs ends far below. */
    private static final int FIRST_SXID = 10_000;

    private static final int RECOVERY_ACTION_CHANGED = 154;
    private static final int NVLINK_ERROR = 74;
    private static final String RUNBOOKS = "docs/runbooks/";

    private record Plain(String meaning, String runbook) {}

    private static final class Loaded {
        static final Map<Integer, Plain> PLAIN =
                TsvResource.byNumber(ErrorNumber.class, "xid-meanings.tsv", 3, c -> new Plain(c[1], c[2]));
    }

    /**
     * Returns what the catalogues have of a number, or, for an unknown one, what the daemon assumes of it.
     *
     * @param number 0 or more
     */
    public static ErrorNumber of(int number) {
        return number < FIRST_SXID ? xid(number) : sxid(number);
    }

    private static ErrorNumber xid(int number) {
        Plain plain = Loaded.PLAIN.getOrDefault(number, new Plain("", "xid.md"));
        Optional<XidCatalog.Entry> entry = XidCatalog.entry(number);
        Resolution resolution = entry.map(XidCatalog.Entry::resolution).orElse(XidCatalog.UNKNOWN);
        return new ErrorNumber(
                Kind.XID,
                number,
                entry.isPresent(),
                entry.map(XidCatalog.Entry::mnemonic).orElse(""),
                plain.meaning(),
                resolution.severity(),
                resolution.action(),
                entry.map(XidCatalog.Entry::why).orElse(XidCatalog.UNKNOWN_WHY),
                note(number),
                RUNBOOKS + plain.runbook());
    }

    private static String note(int number) {
        if (number == NVLINK_ERROR) {
            return "The seven registers in the line decide on severity and action.";
        }
        if (number == RECOVERY_ACTION_CHANGED) {
            return "The line names the recovery action.";
        }
        return NvlinkRules.about(number)
                ? "The words behind the number in the line decide on severity and action."
                : "";
    }

    private static ErrorNumber sxid(int number) {
        Optional<SxidCatalog.Entry> entry = SxidCatalog.entry(number);
        Resolution resolution =
                entry.map(SxidCatalog.Entry::documentedResolution).orElse(Resolution.SUPPORT);
        return new ErrorNumber(
                Kind.SXID,
                number,
                entry.isPresent(),
                entry.map(SxidCatalog.Entry::name).orElse(""),
                "",
                resolution.severity(),
                resolution.action(),
                SxidCatalog.SOURCE + ": "
                        + entry.map(SxidCatalog.Entry::documentedText).orElse("not known"),
                "The severity that the driver prints in the line decides.",
                RUNBOOKS + "sxid.md");
    }

    /**
     * Reads a number as a user types it: one to nine digits.
     *
     * @return empty for any other text
     */
    public static OptionalInt parse(String text) {
        boolean digits = !text.isEmpty()
                && text.length() <= 9
                && text.chars().allMatch(character -> character >= '0' && character <= '9');
        return digits ? OptionalInt.of(Integer.parseInt(text)) : OptionalInt.empty();
    }
}
