package dev.gpuwarden.daemon.kernlog;

import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.Proof;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.kernel.FabricSuspicion;
import dev.gpuwarden.core.kernel.KernelLogParser;
import dev.gpuwarden.core.kernel.KernelRecord;
import dev.gpuwarden.core.kernel.KernelRecord.Writer;
import dev.gpuwarden.core.kernel.RecordRules;
import dev.gpuwarden.core.kernel.Resolution;
import dev.gpuwarden.core.kernel.Signal;
import dev.gpuwarden.core.kernel.Signal.Kind;
import dev.gpuwarden.core.kernel.Signal.Severity;
import dev.gpuwarden.core.kernel.WrappedMessage;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.util.Text;
import dev.gpuwarden.daemon.kernlog.Occurrence.Checks;
import dev.gpuwarden.daemon.kernlog.Rules.PatternRule;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A classifier of kernel-log records: each record yields the faults and recoveries that follow from it, each as one occurrence.
 * {@link EventBatcher} counts repetitions, and makes an event only where it stores one. Does no I/O. Not thread-safe.
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

    /** The longest time from the end of a reset to its line: the checks behind it end within minutes. */
    private static final Duration LONGEST_RESET = Duration.ofHours(1);

    private final String nodeName;
    private final KernelLogParser parser;
    private final Rules.Evaluator rules;
    private final GpuNames names;
    private final XidHistory xids = new XidHistory();
    private final KernelLogStats.Counters counters;
    private final UnreadLines unread;
    private final Clock clock;
    private final WrappedMessage wrapped = new WrappedMessage();
    private final FabricSuspicion fabric = new FabricSuspicion();
    /** The suspicion from lines that any user may have written. They must not complete an incident of the kernel's own lines. */
    private final FabricSuspicion unprovenFabric = new FabricSuspicion();

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
        this.unread = new UnreadLines(counters, clock);
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
    List<Occurrence> reboot() {
        xids.clearLast();
        fabric.clear();
        unprovenFabric.clear();
        return Checks.rebooted(rules.rules(), others, nodeName, clock.instant());
    }

    /** Returns the records about an XID that were not read. */
    UnreadLines unread() {
        return unread;
    }

    /** Returns the history of XIDs. Any thread may read it. */
    XidHistory xids() {
        return xids;
    }

    /** Returns the events of one record, in order. The list is empty for nearly all records. */
    List<Occurrence> classify(KernelRecord record) {
        counters.record(record.writer());
        // Only files split a message of the driver into several records.
        String text = record.writer() == Writer.UNTOLD ? wrapped.join(record.text()) : record.text();
        Optional<Signal> parsed = parser.parse(text);
        boolean kernels = record.writer() == Writer.KERNEL || record.writer() == Writer.UNTOLD;
        List<Occurrence> events = kernels ? otherMatches(record) : List.of();
        if (parsed.isEmpty()) {
            unread.add(record);
            return kernels && !rules.rules().patterns().isEmpty() ? with(events, patternMatch(record, text)) : events;
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
                signal.pci().ifPresent(pci -> signal.gpuUuid().ifPresent(uuid -> name(pci, uuid, record.proven())));
                yield events;
            }
            case GPU_RESET -> with(events, reset(signal, text, when, record.proven()));
            default -> {
                List<Occurrence> found = with(events, fault(signal, text, when, record.proven()));
                Optional<Signal> suspicion = (record.proven() ? fabric : unprovenFabric).add(signal, when);
                yield with(found, suspicion.flatMap(whole -> fault(whole, text, when, record.proven())));
            }
        };
    }

    private void name(PciAddress pci, String uuid, boolean proven) {
        if (proven) {
            names.learn(pci, uuid);
        } else {
            names.suppose(pci, uuid);
        }
    }

    private static List<Occurrence> with(List<Occurrence> events, List<Occurrence> more) {
        if (events.isEmpty() || more.isEmpty()) {
            return events.isEmpty() ? more : events;
        }
        List<Occurrence> all = new ArrayList<>(events);
        all.addAll(more);
        return all;
    }

    private static List<Occurrence> with(List<Occurrence> events, Optional<Occurrence> more) {
        return with(events, more.map(List::of).orElse(List.of()));
    }

    private List<Occurrence> otherMatches(KernelRecord record) {
        List<Occurrence> events = List.of();
        for (RecordRules.Found found : others.match(record)) {
            counters.pattern(found.code());
            // Such rules recommend no action: an operator must examine a lasting fault, and a passing one asks for
            // none.
            Occurrence event = occurrence(
                    new Checks.Check(found.check(), "NODE"),
                    found.code(),
                    List.of(),
                    found.lasting() ? RecommendedAction.CONTACT_SUPPORT : RecommendedAction.NONE,
                    found.lasting() ? Severity.FATAL : Severity.WARNING,
                    "",
                    Text.head(found.message(), LONGEST_LINE),
                    new HashMap<>(Map.of(WHY, Text.head(found.origin(), LONGEST_WHY))),
                    when(record),
                    record.proven());
            events = with(events, List.of(event));
        }
        return events;
    }

    private Optional<Occurrence> fault(Signal signal, String text, Instant when, boolean proven) {
        Optional<PciAddress> pci = signal.pci().map(GpuNames::whole);
        if (signal.kind() == Kind.XID) {
            xids.add(pci, signal.family(), when);
        } else if (signal.kind() == Kind.FALLEN_OFF_BUS && xids.fellOffRecently(pci, when)) {
            counters.suppressed();
            return Optional.empty();
        }
        Resolution resolution = rules.evaluate(signal, pci, when);
        if (resolution.severity() == Severity.INFO) {
            counters.silent();
            return Optional.empty();
        }
        Optional<String> uuid =
                signal.kind() == Kind.SXID ? Optional.empty() : signal.gpuUuid().or(() -> pci.flatMap(names::uuid));
        Map<String, String> details = new HashMap<>();
        details.putAll(signal.details());
        signal.pid().ifPresent(pid -> details.put("pid", pid));
        signal.process().ifPresent(process -> details.put("process", process));
        details.put(WHY, Text.head(signal.why(), LONGEST_WHY));
        boolean gpu = pci.isPresent() && (uuid.isPresent() || !signal.code().startsWith("pcie-"));
        return Optional.of(occurrence(
                Checks.of(signal, gpu),
                signal.code(),
                names.entities(pci, uuid),
                possible(resolution.action(), uuid, details),
                resolution.severity(),
                signal.name(),
                line(text),
                details,
                when,
                proven));
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

    private List<Occurrence> reset(Signal signal, String text, Instant when, boolean proven) {
        Optional<String> uuid = signal.gpuUuid();
        Optional<PciAddress> pci = signal.pci().map(GpuNames::whole).or(() -> uuid.flatMap(names::pci));
        List<Entity> gpu = names.entities(pci, uuid);
        if (gpu.isEmpty()) {
            return List.of();
        }
        if (signal.code().equals("reset")) {
            xids.recovered(pci);
            return Checks.reset(gpu, nodeName, when, proven, end(signal, when));
        }
        return List.of(occurrence(
                Checks.of(signal, true),
                Checks.RESET_FAILURE,
                gpu,
                RecommendedAction.RESTART_VM,
                Severity.FATAL,
                Checks.RESET_FAILURE,
                line(text),
                new HashMap<>(Map.of(WHY, Text.head(signal.why(), LONGEST_WHY))),
                when,
                proven));
    }

    /** Returns the end of the reset that the line states; empty for none, one ahead of the clock, or one that is too old. */
    private Optional<Instant> end(Signal signal, Instant when) {
        try {
            return Optional.ofNullable(signal.details().get(KernelLogParser.RESET_END))
                    .map(Instant::parse)
                    .filter(end -> !end.isAfter(clock.instant()) && end.isAfter(when.minus(LONGEST_RESET)));
        } catch (DateTimeParseException e) {
            return Optional.empty();
        }
    }

    private Optional<Occurrence> patternMatch(KernelRecord record, String text) {
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
            if (rule.resolution().severity() == Severity.INFO || !rules.reached(rule, part, when)) {
                counters.silent();
                return Optional.empty();
            }
            Map<String, String> details = new HashMap<>(Map.of(WHY, Text.head(rule.origin(), LONGEST_WHY)));
            return Optional.of(occurrence(
                    new Checks.Check(rule.check(), rule.componentClass()),
                    rule.code(),
                    part,
                    possible(rule.resolution().action(), uuid, details),
                    rule.resolution().severity(),
                    rule.message(),
                    line(text),
                    details,
                    when,
                    record.proven()));
        }
        return Optional.empty();
    }

    private Occurrence occurrence(
            Checks.Check check,
            String code,
            List<Entity> part,
            RecommendedAction action,
            Severity severity,
            String name,
            String line,
            Map<String, String> details,
            Instant when,
            boolean proven) {
        details.put(SEVERITY, severity.label());
        if (!proven) {
            details.putAll(Proof.missing());
        }
        List<String> codes = List.of(code);
        return new Occurrence(
                new Occurrence.Key(proven, check.componentClass(), check.name(), codes, part, action),
                false,
                details,
                () -> Checks.event(check, nodeName)
                        .fatal(action != RecommendedAction.NONE)
                        .message(name.isEmpty() ? line : Text.head(name, LONGEST_LINE) + ": " + line)
                        .action(action)
                        .strategy(Checks.strategy(proven))
                        .errorCodes(codes)
                        .entities(part)
                        .generated(when));
    }

    private static String line(String text) {
        return Text.head(text.trim(), LONGEST_LINE);
    }

    private Instant when(KernelRecord record) {
        Instant now = clock.instant();
        boolean known = !record.time().equals(Instant.EPOCH) && !record.time().isAfter(now.plus(AHEAD));
        return known ? record.time() : now;
    }
}
