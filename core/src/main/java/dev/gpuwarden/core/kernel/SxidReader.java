package dev.gpuwarden.core.kernel;

import dev.gpuwarden.core.kernel.Signal.Kind;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A reader of SXid lines: `nvidia-nvswitch3: SXid (PCI:0000:05:00.0): 12028, Non-fatal, Link 32 egress non-posted PRIV error`. */
final class SxidReader {

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
