package dev.gpuwarden.daemon.command;

import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.core.event.ActionText;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Measurement;
import dev.gpuwarden.core.health.Outcome;
import dev.gpuwarden.core.health.Subject;
import dev.gpuwarden.core.node.PartNames;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The faults in this boot's kernel log, as findings of the check that reads it. Pure. */
final class KernelLogFindings {

    static final String CHECK = "kernel-log";

    private KernelLogFindings() {}

    /** Returns the check's own result, on whether the log is readable, with the faults in the log. */
    static CheckResult with(CheckResult read, List<Fault> faults, PartNames names, Duration took) {
        List<Finding> findings = new ArrayList<>(read.findings());
        findings.addAll(of(faults, names));
        return CheckResult.of(read.check(), read.at(), read.took().plus(took), findings);
    }

    /** Returns one finding for each event that raised faults: a GPU has a fault under each of its names. */
    static List<Finding> of(List<Fault> faults, PartNames names) {
        Map<HealthEvent, Finding> byCause = new LinkedHashMap<>();
        faults.forEach(fault -> byCause.computeIfAbsent(fault.cause(), cause -> finding(fault, names)));
        return List.copyOf(byCause.values());
    }

    private static Finding finding(Fault fault, PartNames names) {
        HealthEvent cause = fault.cause();
        Outcome outcome = cause.fatal() ? Outcome.FAIL : Outcome.WARN;
        Subject subject =
                cause.entities().isEmpty() ? Subject.NODE : new Subject(names.of(cause.entities()), cause.entities());
        String label = subject.label();
        String where = cause.message().contains(label) || subject.equals(Subject.NODE) ? "" : label + ": ";
        return new Finding(
                outcome,
                code(cause.checkName(), fault.key().errorCode()),
                subject,
                where + cause.message() + times(fault),
                ActionText.advice(cause),
                cause.action(),
                List.of(new Measurement("occurrences_count", fault.occurrences(), "")));
    }

    private static String times(Fault fault) {
        Instant last = fault.lastSeen().truncatedTo(ChronoUnit.SECONDS);
        return fault.occurrences() == 1
                ? " (at " + last + ")"
                : " (" + fault.occurrences() + " times, last at " + last + ")";
    }

    /** Returns "xid-79"; a code that is a word is returned unchanged. */
    private static String code(String check, String code) {
        String number = code.isEmpty() || !Character.isDigit(code.charAt(0))
                ? code
                : (check.contains("SXID") ? "sxid-" : "xid-") + code;
        String word = number.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9.]+", "-");
        return word.isEmpty() ? CHECK : word;
    }
}
