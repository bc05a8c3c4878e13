package dev.gpuwarden.daemon.kernlog;

import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.kernel.KernelLogParser;
import dev.gpuwarden.core.kernel.KernelRecord;
import dev.gpuwarden.core.kernel.KernelRecord.Writer;
import dev.gpuwarden.core.kernel.RecordRules;
import dev.gpuwarden.core.kernel.Signal;
import dev.gpuwarden.core.kernel.Signal.Kind;
import dev.gpuwarden.core.kernel.Signal.Severity;
import dev.gpuwarden.core.kernel.WrappedMessage;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.daemon.kernlog.Rules.PatternRule;
import dev.gpuwarden.daemon.kernlog.Rules.Ruling;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A classifier of kernel-log records: each record yields the health events that follow from it. An event stands for one occurrence
 * and has no id; {@link EventBatcher} counts repetitions. Does no I/O. Not thread-safe.
 */
final class KernelMessageClassifier {

    /** The metadata key that every event of this monitor has. */
    static final String SEVERITY = "severity";

    private static final String WHY = "why";
    private static final String DEMOTED = "demoted-from";

    /** The longest line in an event, in characters. The kernel's own lines end at about this length. */
    private static final int LONGEST_LINE = 1024;

    private static final int LONGEST_WHY = 300;

    /** A record from further ahead comes from another clock. */
    private static final Duration AHEAD = Duration.ofMinutes(1);

    private final String nodeName;
    private final KernelLogParser parser;
    private final Rules.Evaluator rules;
    private final GpuNames names;
    private final XidHistory xids = new XidHistory();
    private final KernelLogStats.Counters counters;
    private final Clock clock;
    private final WrappedMessage wrapped = new WrappedMessage();
    private RecordRules others = RecordRules.NONE;

    KernelMessageClassifier(
            String nodeName,
            KernelLogParser parser,
            Rules rules,
            GpuNames names,
            KernelLogStats.Counters counters,
            Clock clock) {
        this.nodeName = nodeName;
        this.parser = parser;
        this.rules = new Rules.Evaluator(rules);
        this.names = names;
        this.counters = counters;
        this.clock = clock;
    }

    /** Also matches every record of the kernel with these rules, whatever else the record contains. */
    void alsoMatch(RecordRules more) {
        others = more;
    }

    /** Resumes from the faults that an earlier process of this boot raised. */
    void resume(List<Fault> current) {
        xids.resume(current);
    }

    /** Returns the events of a reboot, which clear all faults of the log. */
    List<HealthEvent> reboot() {
        xids.clearLast();
        return Checks.rebooted(rules.rules(), others, nodeName, clock.instant());
    }

    /** Returns the history of XIDs. Any thread may read it. */
    XidHistory xids() {
        return xids;
    }

    /** Returns the events of one record, in order. The list is empty for nearly all records. */
    List<HealthEvent> classify(KernelRecord record) {
        counters.record(record.writer());
        // Only files split a message of the driver into several records.
        String text = record.writer() == Writer.UNTOLD ? wrapped.join(record.text()) : record.text();
        Optional<Signal> parsed = parser.parse(text);
        boolean kernels = record.writer() == Writer.KERNEL || record.writer() == Writer.UNTOLD;
        List<HealthEvent> events = kernels ? otherMatches(record) : List.of();
        if (parsed.isEmpty()) {
            return kernels && !rules.rules().patterns().isEmpty()
                    ? with(events, patternMatch(record, text).map(List::of).orElse(List.of()))
                    : events;
        }
        Signal signal = parsed.get();
        if (!kernels && !(signal.kind() == Kind.GPU_RESET && record.writer() == Writer.PRIVILEGED)) {
            counters.forged();
            return events;
        }
        counters.signal(signal);
        Instant when = when(record);
        return switch (signal.kind()) {
            case GPU_NAMED -> {
                signal.pci().ifPresent(pci -> signal.gpuUuid().ifPresent(uuid -> names.learn(pci, uuid)));
                yield events;
            }
            case GPU_RESET -> with(events, reset(signal, text, when));
            default -> with(events, fault(signal, text, when).map(List::of).orElse(List.of()));
        };
    }

    private static List<HealthEvent> with(List<HealthEvent> events, List<HealthEvent> more) {
        if (events.isEmpty() || more.isEmpty()) {
            return events.isEmpty() ? more : events;
        }
        List<HealthEvent> all = new ArrayList<>(events);
        all.addAll(more);
        return all;
    }

    private List<HealthEvent> otherMatches(KernelRecord record) {
        List<HealthEvent> events = List.of();
        for (RecordRules.Found found : others.match(record)) {
            counters.pattern(found.code());
            // Such rules recommend no action: an operator must examine a lasting fault, and a passing one asks for
            // none.
            HealthEvent event = event(
                    new Checks.Check(found.check(), "NODE"),
                    found.code(),
                    List.of(),
                    found.lasting() ? RecommendedAction.CONTACT_SUPPORT : RecommendedAction.NONE,
                    found.lasting() ? Severity.FATAL : Severity.WARNING,
                    cut(found.message(), LONGEST_LINE),
                    new HashMap<>(Map.of(WHY, cut(found.origin(), LONGEST_WHY))),
                    when(record));
            events = with(events, List.of(event));
        }
        return events;
    }

    private Optional<HealthEvent> fault(Signal signal, String text, Instant when) {
        Optional<PciAddress> pci = signal.pci().map(GpuNames::whole);
        if (signal.kind() == Kind.XID) {
            xids.add(pci, signal.family(), when);
        } else if (signal.kind() == Kind.FALLEN_OFF_BUS && xids.fellOffRecently(pci, when)) {
            counters.suppressed();
            return Optional.empty();
        }
        Ruling ruling = rules.evaluate(signal, pci, when);
        if (ruling.ignore() || ruling.severity() == Severity.INFO) {
            counters.silent();
            return Optional.empty();
        }
        Optional<String> uuid =
                signal.kind() == Kind.SXID ? Optional.empty() : signal.gpuUuid().or(() -> pci.flatMap(names::uuid));
        Map<String, String> details = new HashMap<>();
        details.putAll(signal.details());
        signal.pid().ifPresent(pid -> details.put("pid", pid));
        signal.process().ifPresent(process -> details.put("process", process));
        details.put(WHY, cut(signal.why(), LONGEST_WHY));
        boolean gpu = pci.isPresent() && (uuid.isPresent() || !signal.code().startsWith("pcie-"));
        return Optional.of(event(
                Checks.of(signal, gpu),
                signal.code(),
                names.entities(pci, uuid),
                possible(ruling.action(), uuid, details),
                ruling.severity(),
                message(signal.name(), text),
                details,
                when));
    }

    /** Returns the action, or a restart instead of a GPU reset without a UUID: reset jobs identify GPUs by UUID alone. */
    private static RecommendedAction possible(
            RecommendedAction action, Optional<String> uuid, Map<String, String> details) {
        if (action == RecommendedAction.COMPONENT_RESET && uuid.isEmpty()) {
            details.put(DEMOTED, action.name());
            return RecommendedAction.RESTART_VM;
        }
        return action;
    }

    private List<HealthEvent> reset(Signal signal, String text, Instant when) {
        Optional<String> uuid = signal.gpuUuid();
        Optional<PciAddress> pci = signal.pci().map(GpuNames::whole).or(() -> uuid.flatMap(names::pci));
        List<Entity> gpu = names.entities(pci, uuid);
        if (gpu.isEmpty()) {
            return List.of();
        }
        if (signal.code().equals("reset")) {
            xids.recovered(pci);
            return Checks.reset(gpu, nodeName, when);
        }
        return List.of(event(
                Checks.of(signal, true),
                Checks.RESET_FAILURE,
                gpu,
                RecommendedAction.RESTART_VM,
                Severity.FATAL,
                message(Checks.RESET_FAILURE, text),
                new HashMap<>(Map.of(WHY, cut(signal.why(), LONGEST_WHY))),
                when));
    }

    private Optional<HealthEvent> patternMatch(KernelRecord record, String text) {
        for (PatternRule rule : rules.rules().patterns()) {
            Optional<BoundedPattern.Match> match = rule.pattern().find(text);
            if (match.isEmpty()) {
                continue;
            }
            Optional<PciAddress> pci =
                    match.get().pci().flatMap(PciAddress::parse).map(GpuNames::whole);
            Optional<String> uuid = match.get().gpuUuid().or(() -> pci.flatMap(names::uuid));
            Instant when = when(record);
            counters.pattern(rule.code());
            List<Entity> part = names.entities(pci, uuid);
            if (rule.ruling().severity() == Severity.INFO || !rules.reached(rule, part, when)) {
                counters.silent();
                return Optional.empty();
            }
            Map<String, String> details = new HashMap<>(Map.of(WHY, cut(rule.origin(), LONGEST_WHY)));
            return Optional.of(event(
                    new Checks.Check(rule.check(), rule.componentClass()),
                    rule.code(),
                    part,
                    possible(rule.ruling().action(), uuid, details),
                    rule.ruling().severity(),
                    message(rule.message(), text),
                    details,
                    when));
        }
        return Optional.empty();
    }

    private HealthEvent event(
            Checks.Check check,
            String code,
            List<Entity> part,
            RecommendedAction action,
            Severity severity,
            String message,
            Map<String, String> details,
            Instant when) {
        details.put(SEVERITY, severity.label());
        return Checks.event(check, nodeName)
                .fatal(action != RecommendedAction.NONE)
                .message(message)
                .action(action)
                .errorCodes(List.of(code))
                .entities(part)
                .metadata(details)
                .generated(when)
                .build();
    }

    private static String message(String name, String line) {
        String text = cut(line.trim(), LONGEST_LINE);
        return name.isEmpty() ? text : cut(name, LONGEST_LINE) + ": " + text;
    }

    private static String cut(String text, int longest) {
        if (text.length() <= longest) {
            return text;
        }
        // A character beyond the first plane is two chars, and half of one is no text.
        boolean half = Character.isHighSurrogate(text.charAt(longest - 1));
        return text.substring(0, half ? longest - 1 : longest);
    }

    private Instant when(KernelRecord record) {
        Instant now = clock.instant();
        boolean known = !record.time().equals(Instant.EPOCH) && !record.time().isAfter(now.plus(AHEAD));
        return known ? record.time() : now;
    }
}
