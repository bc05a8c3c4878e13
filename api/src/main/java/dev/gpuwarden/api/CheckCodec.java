package dev.gpuwarden.api;

import dev.gpuwarden.api.v1.Check;
import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.core.check.Damping;
import dev.gpuwarden.core.check.RunningCheck;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Measurement;
import dev.gpuwarden.core.health.Outcome;
import dev.gpuwarden.core.health.Subject;
import dev.gpuwarden.core.health.Verdict;
import java.time.Duration;
import java.util.List;

/** The codec of checks and their results between core and the wire. */
public final class CheckCodec {

    private static final EnumCodec<Outcome, dev.gpuwarden.api.v1.Outcome> OUTCOMES =
            EnumCodec.of(Outcome.class, dev.gpuwarden.api.v1.Outcome.class, "OUTCOME_");
    private static final EnumCodec<Verdict, dev.gpuwarden.api.v1.Verdict> VERDICTS =
            EnumCodec.of(Verdict.class, dev.gpuwarden.api.v1.Verdict.class, "VERDICT_");
    private static final EnumCodec<Damping.Phase, dev.gpuwarden.api.v1.Damping.Phase> PHASES =
            EnumCodec.of(Damping.Phase.class, dev.gpuwarden.api.v1.Damping.Phase.class, "");

    private CheckCodec() {}

    public static Check toWire(CheckInfo check) {
        return Check.newBuilder()
                .setId(check.id())
                .setComponentClass(check.componentClass())
                .setSummary(check.summary())
                .setPeriodSeconds(seconds(check.every()))
                .setConfirmLooks(check.confirm())
                .setProofLooks(check.proof())
                .setEventName(check.eventName())
                .build();
    }

    public static CheckInfo fromWire(Check wire) {
        return new CheckInfo(
                wire.getId(),
                wire.getComponentClass(),
                wire.getSummary(),
                duration(wire.getPeriodSeconds()),
                wire.getConfirmLooks(),
                wire.getProofLooks());
    }

    public static dev.gpuwarden.api.v1.CheckResult toWire(CheckResult result) {
        dev.gpuwarden.api.v1.CheckResult.Builder wire = dev.gpuwarden.api.v1.CheckResult.newBuilder()
                .setCheckId(result.check().id())
                .setAt(Timestamps.toWire(result.at()))
                .setTookSeconds(seconds(result.took()))
                .setOutcome(toWire(result.outcome()));
        result.findings().forEach(finding -> wire.addFindings(toWire(finding)));
        return wire.build();
    }

    public static dev.gpuwarden.api.v1.RunningCheck toWire(RunningCheck running) {
        return dev.gpuwarden.api.v1.RunningCheck.newBuilder()
                .setSince(Timestamps.toWire(running.since()))
                .setDoing(running.progress().doing())
                .setDoneParts(running.progress().done())
                .setTotalParts(running.progress().total())
                .build();
    }

    /** @throws java.time.DateTimeException where a time is outside of what the format allows */
    public static RunningCheck fromWire(dev.gpuwarden.api.v1.RunningCheck wire, CheckInfo check) {
        return new RunningCheck(
                check,
                Timestamps.fromWire(wire.getSince()),
                new RunningCheck.Progress(wire.getDoing(), wire.getDoneParts(), wire.getTotalParts()));
    }

    /**
     * @param check the check that the result names
     * @throws java.time.DateTimeException where a time is outside of what the format allows
     */
    public static CheckResult fromWire(dev.gpuwarden.api.v1.CheckResult wire, CheckInfo check) {
        return new CheckResult(
                check,
                Timestamps.fromWire(wire.getAt()),
                duration(wire.getTookSeconds()),
                wire.getFindingsList().stream().map(CheckCodec::fromWire).toList(),
                fromWire(wire.getOutcome()));
    }

    public static dev.gpuwarden.api.v1.Damping toWire(Damping damping) {
        dev.gpuwarden.api.v1.Damping.Builder wire = dev.gpuwarden.api.v1.Damping.newBuilder()
                .setSubject(damping.subject().label())
                .setErrorCode(damping.code())
                .setPhase(PHASES.toWire(damping.phase()))
                .setLooks(damping.looks())
                .setNeededLooks(damping.needed());
        damping.subject().entities().forEach(entity -> wire.addEntities(HealthEventCodec.toWire(entity)));
        return wire.build();
    }

    /** Returns the parts between healthy and faulty; phases that this version does not support are left out. */
    public static List<Damping> damping(Check wire) {
        CheckInfo check = fromWire(wire);
        return wire.getDampingList().stream()
                .flatMap(each -> PHASES.fromWire(each.getPhase()).stream()
                        .map(phase -> new Damping(
                                check,
                                new Subject(each.getSubject(), HealthEventCodec.entities(each.getEntitiesList())),
                                each.getErrorCode(),
                                phase,
                                each.getLooks(),
                                each.getNeededLooks())))
                .toList();
    }

    public static dev.gpuwarden.api.v1.Finding toWire(Finding finding) {
        dev.gpuwarden.api.v1.Finding.Builder wire = dev.gpuwarden.api.v1.Finding.newBuilder()
                .setOutcome(toWire(finding.outcome()))
                .setCode(finding.code())
                .setSubject(finding.subject().label())
                .setMessage(finding.message())
                .setRemedy(finding.remedy())
                .setActionValue(finding.action().number());
        finding.subject().entities().forEach(entity -> wire.addEntities(HealthEventCodec.toWire(entity)));
        finding.evidence()
                .forEach(measured -> wire.addEvidenceBuilder()
                        .setName(measured.name())
                        .setValue(measured.value())
                        .setExpected(measured.expected()));
        return wire.build();
    }

    public static Finding fromWire(dev.gpuwarden.api.v1.Finding wire) {
        return new Finding(
                fromWire(wire.getOutcome()),
                wire.getCode(),
                new Subject(wire.getSubject(), HealthEventCodec.entities(wire.getEntitiesList())),
                wire.getMessage(),
                wire.getRemedy(),
                RecommendedAction.of(wire.getActionValue()),
                wire.getEvidenceList().stream()
                        .map(measured ->
                                new Measurement(measured.getName(), measured.getValue(), measured.getExpected()))
                        .toList());
    }

    public static dev.gpuwarden.api.v1.Outcome toWire(Outcome outcome) {
        return OUTCOMES.toWire(outcome);
    }

    /** Returns the outcome; UNKNOWN for one that this version does not support. */
    public static Outcome fromWire(dev.gpuwarden.api.v1.Outcome wire) {
        return OUTCOMES.fromWire(wire).orElse(Outcome.UNKNOWN);
    }

    public static dev.gpuwarden.api.v1.Verdict toWire(Verdict verdict) {
        return VERDICTS.toWire(verdict);
    }

    /** Returns the verdict; UNDECIDED for one that this version does not support. */
    public static Verdict fromWire(dev.gpuwarden.api.v1.Verdict wire) {
        return VERDICTS.fromWire(wire).orElse(Verdict.UNDECIDED);
    }

    private static double seconds(Duration duration) {
        return duration.toNanos() / 1e9;
    }

    private static Duration duration(double seconds) {
        return Duration.ofNanos(Math.round(seconds * 1e9));
    }
}
