package dev.gpuwarden.checks.gpu;

import dev.gpuwarden.core.check.CheckContext;
import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.core.check.GpuHistory;
import dev.gpuwarden.core.check.Limits.Limit;
import dev.gpuwarden.core.compute.WorkReadings;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Measurement;
import dev.gpuwarden.core.health.Outcome;
import dev.gpuwarden.core.health.Subject;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import dev.gpuwarden.core.telemetry.GpuState;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Function;

/**
 * A builder of one check's finding for one GPU from parts. The worst part determines outcome, code and action of the
 * finding. Its message contains every part that is as bad as a WARN.
 */
final class FindingBuilder {

    private final GpuSnapshot gpu;
    private final CheckContext context;
    private final Map<String, Integer> counted;
    private final List<Part> parts = new ArrayList<>(4);
    private final List<Measurement> always = new ArrayList<>();
    private WorkReadings work = WorkReadings.of(List.of());

    private record Part(
            Outcome outcome,
            String code,
            String text,
            String remedy,
            RecommendedAction action,
            List<Measurement> evidence) {}

    FindingBuilder(GpuSnapshot gpu, CheckContext context) {
        this(gpu, context, new HashMap<>());
    }

    /** @param counted see {@link #counted} */
    FindingBuilder(GpuSnapshot gpu, CheckContext context, Map<String, Integer> counted) {
        this.gpu = gpu;
        this.context = context;
        this.counted = counted;
    }

    /**
     * Returns the wrong results of one measurement of the GPU that were counted, by what was wrong, so that none counts twice when it is
     * judged again; a right measurement that was counted has no wrong result.
     */
    Map<String, Integer> counted() {
        return counted;
    }

    /** Returns whether there is no part yet. */
    boolean isEmpty() {
        return parts.isEmpty();
    }

    GpuSnapshot gpu() {
        return gpu;
    }

    GpuFrame frame() {
        return gpu.frame();
    }

    CheckContext context() {
        return context;
    }

    /** Returns what was read of the GPU while the check worked on it. */
    WorkReadings work() {
        return work;
    }

    void work(WorkReadings readings) {
        work = readings;
    }

    /** Adds values to the finding of a good GPU and of a bad one, so that a report shows them for each. */
    void evidence(Measurement... values) {
        always.addAll(List.of(values));
    }

    GpuHistory history() {
        return context.history(gpu.identity());
    }

    /** Returns the limit of this name for the board. */
    Optional<Limit> limit(String name) {
        return context.limits().of(name, gpu.identity());
    }

    /** Returns the other GPUs of the node with the same product name that answer. They have the same capabilities. */
    List<GpuSnapshot> peers() {
        if (!(gpu.identity().name() instanceof Reading.Present<String>)) {
            return List.of();
        }
        return context.node().gpus().stream()
                .filter(other -> other != gpu
                        && other.state() == GpuState.ANSWERING
                        && other.identity().name().equals(gpu.identity().name()))
                .toList();
    }

    /** Returns a raw value that no rule depends on, or the other value if it is absent. */
    long raw(GpuMetric metric, long otherwise) {
        return frame().present(metric) ? frame().raw(metric) : otherwise;
    }

    /** Returns whether a reading that a rule needs is 1; its absence becomes a part, as in {@link #read}. */
    boolean isSet(GpuMetric flag) {
        return read(flag).equals(OptionalLong.of(1));
    }

    /**
     * Returns a reading that a rule needs. If it is absent, its cause becomes a part: SKIPPED if board or driver do not
     * support it, UNKNOWN otherwise.
     */
    OptionalLong read(GpuMetric metric) {
        if (frame().present(metric)) {
            return OptionalLong.of(frame().raw(metric));
        }
        absent((Reading.Absent<?>) frame().reading(metric), metric.label());
        return OptionalLong.empty();
    }

    /**
     * Returns a reading that a rule needs where the board has it: the other value where board or driver do not support it. Empty after
     * adding a part for another cause of absence.
     */
    OptionalLong optional(GpuMetric metric, long otherwise) {
        return notOffered(frame().absence(GpuFrame.slot(metric))) ? OptionalLong.of(otherwise) : read(metric);
    }

    /** Returns whether board, driver or a setting provide no such reading, which is no failure to read it. */
    static boolean notOffered(Absence cause) {
        return switch (cause) {
            case NOT_SUPPORTED, NO_SYMBOL, NO_DATA, OFF -> true;
            default -> false;
        };
    }

    /** Returns the average increase of a counter per minute; empty after adding a part for its absence. */
    Optional<Double> perMinute(GpuMetric counter, Limit limit, String what) {
        Reading<Double> rate = Rate.perMinute(window -> history().increase(counter, window), limit.value());
        if (rate instanceof Reading.Absent<Double> absent) {
            noHistory(absent, what);
        }
        return rate.asOptional();
    }

    /** Adds a SKIPPED part for history that does not cover its window yet or has a reset in it, which is no defect. */
    void noHistory(Reading.Absent<?> absent, String what) {
        switch (absent.cause()) {
            case PENDING, IMPLAUSIBLE, STALE -> skip("needs-time", what.replace('_', ' ') + ": " + absent.text());
            default -> absent(absent, what);
        }
    }

    void absent(Reading.Absent<?> absent, String what) {
        String text = what.replace('_', ' ') + ": " + absent.text();
        if (notOffered(absent.cause())) {
            skip("not-supported", text);
            return;
        }
        if (absent.cause() == Absence.PENDING) {
            skip("not-read-yet", text);
        } else {
            unknown("not-readable", text, "run 'gpuwarden doctor'");
        }
    }

    void pass(String code, String text, Measurement... evidence) {
        part(Outcome.PASS, code, text, "", RecommendedAction.NONE, evidence);
    }

    void skip(String code, String text) {
        part(Outcome.SKIPPED, code, text, "", RecommendedAction.NONE);
    }

    /** Adds a SKIPPED part for what an operator can supply. */
    void skip(String code, String text, String remedy) {
        part(Outcome.SKIPPED, code, text, remedy, RecommendedAction.NONE);
    }

    void unknown(String code, String text, String remedy) {
        part(Outcome.UNKNOWN, code, text, remedy, RecommendedAction.NONE);
    }

    void warn(String code, String text, String remedy, Measurement... evidence) {
        part(Outcome.WARN, code, text, remedy, RecommendedAction.NONE, evidence);
    }

    void fail(String code, String text, String remedy, RecommendedAction action, Measurement... evidence) {
        part(Outcome.FAIL, code, text, remedy, action, evidence);
    }

    private void part(
            Outcome outcome,
            String code,
            String text,
            String remedy,
            RecommendedAction action,
            Measurement... evidence) {
        parts.add(new Part(outcome, code, text, remedy, action, List.of(evidence)));
    }

    /** Returns the finding of all parts. */
    Finding finding() {
        if (parts.isEmpty()) {
            skip("no-limit", "there is no limit to compare with");
        }
        Outcome worst = parts.stream()
                .map(Part::outcome)
                .min(Comparator.comparing(CheckResult.WORST_FIRST::indexOf))
                .orElseThrow();
        boolean bad = worst == Outcome.FAIL || worst == Outcome.UNKNOWN;
        List<Part> shown = new ArrayList<>(parts.size());
        List<Measurement> evidence = new ArrayList<>();
        for (Part part : parts) {
            if (part.outcome() == worst || bad && isBad(part.outcome())) {
                shown.add(part);
                evidence.addAll(part.evidence());
            }
        }
        always.stream()
                .filter(value ->
                        evidence.stream().noneMatch(other -> other.name().equals(value.name())))
                .forEach(evidence::add);
        // The worst comes first, in whatever order they were found.
        shown.sort(Comparator.comparing(part -> part.outcome() != worst));
        return finding(shown, evidence);
    }

    private Finding finding(List<Part> shown, List<Measurement> evidence) {
        Part worst = shown.get(0);
        Subject subject = Subject.of(gpu.identity());
        return new Finding(
                worst.outcome(),
                worst.code(),
                subject,
                subject.label() + ": " + joined(shown, Part::text),
                joined(shown, Part::remedy),
                worst.action(),
                evidence);
    }

    private static String joined(List<Part> parts, Function<Part, String> text) {
        Set<String> texts = new LinkedHashSet<>();
        for (Part part : parts) {
            texts.add(text.apply(part));
        }
        texts.remove("");
        return String.join("; ", texts);
    }

    private static boolean isBad(Outcome outcome) {
        return outcome == Outcome.WARN || outcome == Outcome.UNKNOWN;
    }
}
