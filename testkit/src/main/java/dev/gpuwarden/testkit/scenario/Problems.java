package dev.gpuwarden.testkit.scenario;

import dev.gpuwarden.cli.UserError;
import java.util.ArrayList;
import java.util.List;

/** Collects problems of independent parts, so that a user sees all of a file's mistakes at once. */
final class Problems {

    private final List<String> found = new ArrayList<>();

    /** Runs one independent part; what it complains of is kept for the end. */
    void in(Runnable part) {
        try {
            part.run();
        } catch (Problem e) {
            found.add(String.valueOf(e.getMessage()));
        }
    }

    /** Throws a {@link UserError} with every problem, one a line, if there are any. */
    void raise() {
        if (!found.isEmpty()) {
            throw new UserError(String.join("\n", found));
        }
    }
}
