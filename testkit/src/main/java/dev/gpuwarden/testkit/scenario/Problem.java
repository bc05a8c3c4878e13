package dev.gpuwarden.testkit.scenario;

import dev.gpuwarden.cli.Spelling;
import dev.gpuwarden.cli.Table;
import java.util.Collection;
import java.util.Optional;

/** Something in a scenario that cannot be, at its place. Collected by {@link Problems}, so that one look shows them all. */
final class Problem extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Problem(String place, String subject, String expected, String seen) {
        super(place + ": " + subject + ": expected " + expected + ", saw " + Table.escape(seen), null, false, false);
    }

    private Problem(String message) {
        super(message, null, false, false);
    }

    /** An unknown name, with the known one that is nearest. */
    static Problem unknown(String place, String subject, String what, String seen, Collection<String> known) {
        Optional<String> nearest = Spelling.nearest(seen, known);
        String hint = nearest.map(n -> "; did you mean \"" + n + "\"?")
                .orElseGet(() -> "; known: " + String.join(", ", known));
        return new Problem(place + ": " + subject + ": expected " + what + ", saw \"" + Table.escape(seen) + "\""
                + (hint.length() > 400 ? "" : hint));
    }
}
