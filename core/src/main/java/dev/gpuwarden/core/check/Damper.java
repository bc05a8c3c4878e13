package dev.gpuwarden.core.check;

import dev.gpuwarden.core.check.FaultChange.Meaning;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Outcome;
import dev.gpuwarden.core.health.Subject;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The decision which faults follow from the results of checks. A part of the node has at most one fault of each check.
 *
 * <ul>
 *   <li>WARN and FAIL raise a fault after as many runs as the check requires; PASS clears it after as many as its proof takes.
 *   <li>UNKNOWN, SKIPPED and no finding for a part raise nothing and prove nothing; the count of passes starts again from zero.
 *   <li>A run soon after another one, as on demand, does not count again: it would read the same values.
 *   <li>A fault that was raised and cleared three times within ten minutes is held until ten minutes have passed without a failure.
 *   <li>The fault of a part without further findings stays: a GPU that vanished is not repaired. Three things clear it. The first is
 *       a PASS of a subject with one of its names, such as the GPU that replaced it in its slot. The second is a PASS of the whole
 *       node, where the same check finds no failure. The third applies to a GPU that was known by the driver's index alone: all
 *       findings of the check pass, since that GPU then has a name.
 * </ul>
 *
 * <p>A held fault is reported when its part is good, and again when the part fails: receivers act only on a part that fails.
 *
 * <p>Pure but for its own state, which is bounded. Not thread-safe.
 */
public final class Damper {

    /** Limit on unhealthy parts of all checks. */
    static final int MOST_PARTS = 4096;

    private final Map<String, Map<Entity, DampedPart>> byCheck = new HashMap<>();
    private final Map<String, CheckInfo> checks = new HashMap<>();
    private int parts;

    /**
     * Restores a fault from before a restart, so that the first runs neither raise it again nor clear it without proof.
     *
     * @param held true if it was reported as held: then its next failure is news
     */
    public void restore(CheckInfo check, Subject subject, Meaning meaning, boolean held) {
        DampedPart part = part(check, subject);
        if (part != null) {
            part.restore(meaning, held);
        }
    }

    /** Discards a fault that another source cleared: the next run is the first one. */
    public void forget(Told told) {
        Map<Entity, DampedPart> all = byCheck.get(told.check());
        if (all != null && all.remove(key(told.subject())) != null) {
            parts--;
        }
    }

    /** Returns the faults that were reported and not cleared. */
    public List<Told> told() {
        List<Told> told = new ArrayList<>();
        byCheck.forEach((id, all) -> all.values()
                .forEach(part -> part.told().ifPresent(meaning -> told.add(new Told(id, part.subject(), meaning)))));
        return told;
    }

    /** Returns the parts between healthy and faulty. */
    public List<Damping> damping() {
        List<Damping> damping = new ArrayList<>();
        byCheck.forEach((id, all) -> {
            CheckInfo check = checks.get(id);
            if (check != null) {
                all.values().forEach(part -> part.damping(check).ifPresent(damping::add));
            }
        });
        return damping;
    }

    /**
     * A reported fault.
     *
     * @param check the check's id
     */
    public record Told(String check, Subject subject, Meaning meaning) {}

    /** Returns the changes of faults that follow from one run of a check. */
    public List<FaultChange> look(CheckResult result) {
        CheckInfo check = result.check();
        checks.put(check.id(), check);
        List<FaultChange> changes = new ArrayList<>();
        Set<DampedPart> told = new HashSet<>();
        for (Finding finding : result.findings()) {
            switch (finding.outcome()) {
                case WARN, FAIL -> {
                    DampedPart part = part(check, finding.subject());
                    if (part != null) {
                        told.add(part);
                        part.bad(check, finding, result.at(), changes);
                    }
                }
                case PASS ->
                    named(check, finding.subject()).forEach(part -> {
                        if (told.add(part)) {
                            part.good(check, finding, result.at(), changes);
                        }
                    });
                case UNKNOWN, SKIPPED -> {
                    DampedPart part = of(check).get(key(finding.subject()));
                    if (part != null && told.add(part)) {
                        part.doubt();
                    }
                }
            }
        }
        silent(result, told, changes);
        sweep(check, result.at());
        return changes;
    }

    /** Handles parts that the run does not mention. */
    private void silent(CheckResult result, Set<DampedPart> told, List<FaultChange> changes) {
        List<Finding> findings = result.findings();
        boolean allPass = !findings.isEmpty() && findings.stream().allMatch(f -> f.outcome() == Outcome.PASS);
        boolean nodePasses = allPass
                && findings.stream().anyMatch(f -> f.subject().entities().isEmpty());
        for (DampedPart part : List.copyOf(of(result.check()).values())) {
            if (!told.contains(part)) {
                if (nodePasses || allPass && part.isAnonymous()) {
                    part.good(result.check(), findings.get(0), result.at(), changes);
                } else {
                    part.doubt();
                }
            }
        }
    }

    /** Returns the parts that a PASS of this subject proves healthy. */
    private List<DampedPart> named(CheckInfo check, Subject subject) {
        List<DampedPart> named = new ArrayList<>();
        DampedPart same = of(check).get(key(subject));
        if (same != null) {
            named.add(same);
        }
        for (DampedPart part : of(check).values()) {
            if (part != same && part.sharesName(subject)) {
                named.add(part);
            }
        }
        return named;
    }

    /** Returns the part; null where there is no room for another one. */
    private @Nullable DampedPart part(CheckInfo check, Subject subject) {
        DampedPart known = of(check).get(key(subject));
        if (known != null || parts >= MOST_PARTS) {
            return known;
        }
        DampedPart part = new DampedPart(subject);
        of(check).put(key(subject), part);
        parts++;
        return part;
    }

    private Map<Entity, DampedPart> of(CheckInfo check) {
        return byCheck.computeIfAbsent(check.id(), id -> new LinkedHashMap<>());
    }

    private void sweep(CheckInfo check, Instant now) {
        Iterator<DampedPart> all = of(check).values().iterator();
        while (all.hasNext()) {
            if (all.next().isForgettable(now)) {
                all.remove();
                parts--;
            }
        }
    }

    private static Entity key(Subject subject) {
        return subject.entities().isEmpty() ? Entity.WHOLE : subject.entities().get(0);
    }
}
