package dev.gpuwarden.testkit.scenario;

import dev.gpuwarden.cli.Spelling;
import dev.gpuwarden.cli.Table;
import dev.gpuwarden.cli.UserError;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;

/** Collects the problems of independent parts of a file, so that one run shows all of them. */
final class Problems {

    private static final int LONGEST_HINT = 400;

    private final List<String> found = new ArrayList<>();

    /** A value that cannot be read, with its file, line and column. */
    static final class Problem extends RuntimeException {
        private static final long serialVersionUID = 1L;

        Problem(String place, String subject, String expected, String seen) {
            this(place + ": " + subject + ": expected " + expected + ", saw " + Table.escape(seen));
        }

        private Problem(String message) {
            super(message, null, false, false);
        }

        /** Describes an unknown name and adds the known one that is nearest to it. */
        static Problem unknown(String place, String subject, String expected, String seen, Collection<String> known) {
            Optional<String> nearest = Spelling.nearest(seen, known);
            String hint = nearest.map(name -> "; did you mean \"" + name + "\"?")
                    .orElseGet(() -> "; known: " + String.join(", ", known));
            return new Problem(place + ": " + subject + ": expected " + expected + ", saw \"" + Table.escape(seen)
                    + "\"" + (hint.length() > LONGEST_HINT ? "" : hint));
        }
    }

    /** Runs one independent part and keeps its problem for the end. */
    void in(Runnable part) {
        try {
            part.run();
        } catch (Problem e) {
            found.add(String.valueOf(e.getMessage()));
        }
    }

    /** Throws a {@link UserError} with all problems, one a line, if there are any. */
    void raise() {
        if (!found.isEmpty()) {
            throw new UserError(String.join("\n", found));
        }
    }
}
