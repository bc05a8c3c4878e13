package dev.gpuwarden.core.kernel;

import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.kernel.Signal.Kind;
import dev.gpuwarden.core.kernel.Signal.Severity;
import dev.gpuwarden.core.model.PciAddress;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** The catalogue of messages without a number, by the texts in them. Loaded on first use. */
final class MessageCatalog {

    private enum Place {
        FIRST,
        LAST,
        NONE
    }

    private record Row(String family, List<String> texts, String code, Resolution resolution, Place place, String why) {

        static Row of(String[] c) {
            return new Row(
                    c[0],
                    List.of(c[1].split("\\|", -1)),
                    c[2],
                    new Resolution(Severity.valueOf(c[3].toUpperCase(Locale.ROOT)), RecommendedAction.valueOf(c[4])),
                    Place.valueOf(c[5].toUpperCase(Locale.ROOT)),
                    c[6]);
        }

        boolean fits(String text, int start) {
            if (!text.startsWith(family, start)) {
                return false;
            }
            int from = start + family.length();
            for (String part : texts) {
                int found = text.indexOf(part, from);
                if (found < 0) {
                    return false;
                }
                from = found + part.length();
            }
            return true;
        }

        Signal signal(String text, int start) {
            Optional<PciAddress> pci = switch (place) {
                case FIRST -> PrintedAddress.first(text, start + family.length());
                case LAST -> PrintedAddress.last(text, start + family.length());
                case NONE -> Optional.empty();
            };
            return Signal.of(Kind.MESSAGE, code, resolution, why).at(pci);
        }
    }

    private MessageCatalog() {}

    private static final class Loaded {
        static final List<Row> ROWS = List.copyOf(TsvResource.read("messages.tsv", 7, Row::of));
    }

    /**
     * Returns the signal of the first row that fits; empty where none does.
     *
     * @param start the position of the message in the text
     */
    static Optional<Signal> find(String text, int start) {
        for (Row row : Loaded.ROWS) {
            if (row.fits(text, start)) {
                return Optional.of(row.signal(text, start));
            }
        }
        return Optional.empty();
    }
}
