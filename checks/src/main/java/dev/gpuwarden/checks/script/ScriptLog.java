package dev.gpuwarden.checks.script;

import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Outcome;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.stream.Collectors;

/** A log of a script's result and output, written when they change, not after every run. */
final class ScriptLog {

    private static final System.Logger LOG = System.getLogger(ScriptLog.class.getName());

    private static final int LONGEST_OUTPUT = 2000;

    private String before = Outcome.PASS.name();

    synchronized void note(String name, List<Finding> findings, String errorOutput) {
        String now = findings.stream()
                .map(f -> f.outcome() == Outcome.PASS ? f.outcome().name() : f.outcome() + " " + f.code())
                .distinct()
                .collect(Collectors.joining(", "));
        if (now.equals(before)) {
            return;
        }
        before = now;
        boolean well = now.equals(Outcome.PASS.name());
        String wrote = CleanText.of(errorOutput, LONGEST_OUTPUT);
        LOG.log(
                well ? Level.INFO : Level.WARNING,
                name + ": " + now + ": " + findings.get(0).message()
                        + (well || wrote.isEmpty() ? "" : "; error output: " + wrote));
    }
}
