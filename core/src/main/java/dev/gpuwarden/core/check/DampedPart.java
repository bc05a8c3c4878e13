package dev.gpuwarden.core.check;

import dev.gpuwarden.core.check.FaultChange.Kind;
import dev.gpuwarden.core.check.FaultChange.Meaning;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Subject;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The recent results of one check for one part of the node, and the fault that was reported for it. */
final class DampedPart {

    static final Duration FLAPPING_WINDOW = Duration.ofMinutes(10);
    static final int FLAPPING_CHANGES = 3;

    private static final int MOST_CHANGES = 100;

    private final Deque<Instant> changes = new ArrayDeque<>(4);
    private Subject subject;
    /** The reported fault; null where there is none. */
    private @Nullable Meaning told;
    /** The fault without damping; null where there is none. */
    private @Nullable Meaning seen;

    private boolean held;
    /** The fault was reported as held, and has not failed since. */
    private boolean passes;

    private @Nullable Meaning coming;
    private int bad;
    private int good;
    private @Nullable Instant goodSince;
    /** True if the last run that could check the part passed. */
    private boolean passed;

    private @Nullable Instant counted;

    DampedPart(Subject subject) {
        this.subject = subject;
    }

    /**
     * Marks this fault as reported. The results of the check stay as they are: passes will clear the fault.
     *
     * @param asHeld true if it was reported as held
     */
    void restore(Meaning meaning, boolean asHeld) {
        told = meaning;
        held = asHeld;
        passes = asHeld;
        if (coming == null && goodSince == null && !asHeld) {
            seen = meaning;
        }
    }

    Optional<Meaning> told() {
        return Optional.ofNullable(told);
    }

    /** Returns the progress between healthy and faulty; empty where the part is one of them. */
    Optional<Damping> damping(CheckInfo check) {
        Meaning fault = told;
        if (fault != null && passed) {
            return Optional.of(
                    held
                            ? new Damping(check, subject, fault.code(), Damping.Phase.HELD, 0, 0)
                            : new Damping(check, subject, fault.code(), Damping.Phase.RECOVERING, good, check.proof()));
        }
        Meaning next = coming;
        return fault == null && next != null && bad > 0
                ? Optional.of(new Damping(check, subject, next.code(), Damping.Phase.FAILING, bad, check.confirm()))
                : Optional.empty();
    }

    Subject subject() {
        return subject;
    }

    void bad(CheckInfo check, Finding finding, Instant at, List<FaultChange> out) {
        good = 0;
        goodSince = null;
        passed = false;
        Meaning meaning = Meaning.of(finding);
        if (!meaning.equals(coming)) {
            coming = meaning;
            bad = 1;
            counted = at;
        } else if (counts(check, at)) {
            bad++;
            counted = at;
        }
        if (bad >= check.confirm() && !meaning.equals(seen)) {
            if (seen == null) {
                changed(at);
            }
            seen = meaning;
            tell(check, meaning, finding, at, out);
        }
    }

    private void tell(CheckInfo check, Meaning meaning, Finding finding, Instant at, List<FaultChange> out) {
        Meaning before = told;
        if (meaning.equals(before) && !passes) {
            return;
        }
        passes = false;
        Kind kind = Kind.RAISED;
        if (before != null && before.code().equals(meaning.code())) {
            kind = Kind.CHANGED;
        } else if (before != null) {
            out.add(new FaultChange(Kind.LIFTED, check, subject, before, finding, 0, at));
        }
        subject = finding.subject();
        told = meaning;
        out.add(new FaultChange(kind, check, subject, meaning, finding, flaps(at), at));
    }

    void good(CheckInfo check, Finding finding, Instant at, List<FaultChange> out) {
        coming = null;
        bad = 0;
        passed = true;
        if (goodSince == null) {
            goodSince = at;
            good = 1;
            counted = at;
        } else if (counts(check, at)) {
            good++;
            counted = at;
        }
        if (good < check.proof()) {
            return;
        }
        if (seen != null) {
            seen = null;
            changed(at);
        }
        Meaning fault = told;
        if (fault == null) {
            return;
        }
        if (!passes && (held || flaps(at) > 0)) {
            held = true;
            passes = true;
            out.add(new FaultChange(Kind.HELD, check, subject, fault, finding, flaps(at), at));
        }
        boolean longGood = Duration.between(goodSince, at).compareTo(FLAPPING_WINDOW) >= 0;
        if (!held || longGood) {
            out.add(new FaultChange(Kind.LIFTED, check, subject, fault, finding, 0, at));
            told = null;
            held = false;
            passes = false;
        }
    }

    /** Records a run that could not check the part: passes start again from zero, and failures stay. */
    void doubt() {
        good = 0;
        goodSince = null;
    }

    /** Returns whether a run counts as a new one; a run after the clock went back does. */
    private boolean counts(CheckInfo check, Instant at) {
        Instant last = counted;
        return last == null
                || at.isBefore(last)
                || !at.isBefore(last.plus(check.every().dividedBy(2)));
    }

    private void changed(Instant at) {
        if (changes.size() == MOST_CHANGES) {
            changes.removeFirst();
        }
        changes.addLast(at);
    }

    /** Returns how often the fault was raised and cleared lately; 0 where it does not flap. */
    private int flaps(Instant at) {
        forgetOld(at);
        return changes.size() >= FLAPPING_CHANGES ? changes.size() : 0;
    }

    private void forgetOld(Instant at) {
        changes.removeIf(change -> Duration.between(change, at).abs().compareTo(FLAPPING_WINDOW) > 0);
    }

    boolean isForgettable(Instant now) {
        if (told != null || seen != null || bad > 0) {
            return false;
        }
        forgetOld(now);
        return changes.isEmpty();
    }

    boolean sharesName(Subject other) {
        return subject.entities().stream()
                .anyMatch(name -> name.namesGpu() && other.entities().contains(name));
    }

    boolean isAnonymous() {
        return subject.entities().stream().allMatch(name -> name.type().equals(Entity.GPU_INDEX))
                && !subject.entities().isEmpty();
    }
}
