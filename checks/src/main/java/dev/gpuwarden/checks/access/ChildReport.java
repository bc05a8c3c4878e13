package dev.gpuwarden.checks.access;

import dev.gpuwarden.checks.CheckEnvironment;
import dev.gpuwarden.checks.NodeBoot;
import dev.gpuwarden.checks.access.ChildStep.NewRate;
import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.core.check.RateHistory;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.model.Reading;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * The child's side of a run of one check for a daemon: the check continues with what the daemon keeps for it, and each proven finding is
 * reported immediately, with the changes that belong to it. For one thread at a time.
 */
public final class ChildReport {

    private final String check;
    private final KeptState kept;
    private final Consumer<String> lines;
    private final Map<String, Long> reportedNotes;
    private final Map<String, Long> reportedBootNotes;
    private final List<NewRate> rates = new ArrayList<>();
    private final CheckEnvironment around;

    private ChildReport(String check, KeptState kept, CheckEnvironment usual, Consumer<String> lines) {
        this.check = check;
        this.kept = kept;
        this.lines = lines;
        this.reportedNotes = new HashMap<>(kept.notes());
        this.reportedBootNotes = new HashMap<>(kept.bootNotes());
        RateHistory continued = new Rates();
        around = usual.withBoot(NodeBoot.ofDaemon(kept.young()))
                .with(usual.sources().with(RateHistory.class, () -> Reading.of(continued)))
                .withProofs(proof -> report(List.of(proof), false));
        around.notes(check).putAll(kept.notes());
        around.bootNotes(check).putAll(kept.bootNotes());
    }

    /**
     * Returns the report of a run.
     *
     * @param state the file with the daemon's {@link KeptState}
     * @param usual the environment of a single run
     * @param lines receives each line, which must be on its way when the call returns
     * @throws IOException if the file cannot be read, or has another form
     */
    public static ChildReport of(String check, Path state, CheckEnvironment usual, Consumer<String> lines)
            throws IOException {
        return new ChildReport(check, KeptState.parse(Files.readString(state)), usual, lines);
    }

    /** Returns the environment of the run. */
    public CheckEnvironment environment() {
        return around;
    }

    /** Reports the result. */
    public void end(CheckResult result) {
        report(result.findings(), true);
    }

    private synchronized void report(List<Finding> findings, boolean last) {
        ChildStep step = new ChildStep(
                check,
                findings,
                changes(reportedNotes, around.notes(check)),
                changes(reportedBootNotes, around.bootNotes(check)),
                List.copyOf(rates),
                last);
        rates.clear();
        lines.accept(step.json());
    }

    /** Returns what differs from the last report, and notes it as reported. */
    private static Map<String, Optional<Long>> changes(Map<String, Long> reported, Map<String, Long> now) {
        Map<String, Optional<Long>> changes = new HashMap<>();
        now.forEach((key, value) -> {
            if (!value.equals(reported.get(key))) {
                changes.put(key, Optional.of(value));
            }
        });
        reported.keySet().stream()
                .filter(key -> !now.containsKey(key))
                .forEach(key -> changes.put(key, Optional.empty()));
        reported.clear();
        reported.putAll(now);
        return changes;
    }

    /** The daemon's history of rates, to which this run adds. */
    private final class Rates implements RateHistory {

        @Override
        public List<Double> earlier(String gpu, String work, String settings) {
            return kept.rates().stream()
                    .filter(series -> series.gpu().equals(gpu)
                            && series.work().equals(work)
                            && series.settings().equals(settings))
                    .findFirst()
                    .map(Series::rates)
                    .orElse(List.of());
        }

        @Override
        public void keep(String gpu, String work, String settings, double rate) {
            if (Double.isFinite(rate)) {
                synchronized (ChildReport.this) {
                    rates.add(new NewRate(gpu, work, settings, rate));
                }
            }
        }

        @Override
        public List<Series> series(Collection<String> gpus) {
            return List.of();
        }
    }
}
