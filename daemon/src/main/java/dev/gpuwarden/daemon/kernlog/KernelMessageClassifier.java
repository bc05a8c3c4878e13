package dev.gpuwarden.daemon.kernlog;

import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.kernel.KernelRecord;
import dev.gpuwarden.core.kernel.KernelRecord.Writer;
import dev.gpuwarden.core.kernel.LogParser;
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
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;

/**
 * Turns records of the kernel log into health events. Reads no log and waits for nothing: is given records, and asked what is to
 * go out. Not thread-safe.
 */
final class KernelMessageClassifier {

    /** Metadata keys of events. */
    static final String SEVERITY = "severity";

    private static final String WHY = "why";
    private static final String DEMOTED = "demoted-from";

    /** Of a line in an event. The kernel's own end at about this. */
    private static final int LONGEST_LINE = 1024;

    private static final int LONGEST_WHY = 300;

    /** A record of the future has a clock of its own. */
    private static final Duration AHEAD = Duration.ofMinutes(1);

    private final String nodeName;
    private final LogParser parser;
    private final Rulings rulings;
    private final GpuNames names;
    private final EventBatcher tallies;
    private final LostGpus lost = new LostGpus();
    private final XidHistory xids = new XidHistory();
    private final LogCounts counts;
    private final Clock clock;
    private final LongSupplier nanoTime;
    private final WrappedMessage wrapped = new WrappedMessage();
    private RecordRules others = RecordRules.NONE;

    KernelMessageClassifier(
            String nodeName,
            LogParser parser,
            Rules rules,
            GpuNames names,
            EventBatcher tallies,
            LogCounts counts,
            Clock clock,
            LongSupplier nanoTime) {
        this.nodeName = nodeName;
        this.parser = parser;
        this.rulings = new Rulings(rules);
        this.names = names;
        this.tallies = tallies;
        this.counts = counts;
        this.clock = clock;
        this.nanoTime = nanoTime;
    }

    /** Has records matched with these rules too, whatever else is found in them. */
    void alsoMatch(RecordRules rules) {
        others = rules;
    }

    /** Takes up what an earlier process told of this boot. */
    void goOn(List<Fault> current) {
        xids.goOn(current);
        for (Fault fault : current) {
            if (fault.key().checkName().equals(Checks.XID)
                    && fault.key().errorCode().equals(LostGpus.XID)
                    && fault.key().entity().type().equals(Entity.PCI)) {
                PciAddress.parse(fault.key().entity().value())
                        .ifPresent(pci -> lost.told(Optional.of(pci), fault.lastSeen()));
            }
        }
    }

    /** The node was booted since: whatever was told is over. */
    void rebooted() {
        xids.forget();
        tallies.settle(key -> true);
        for (HealthEvent event : Checks.rebooted(rulings.rules(), others, nodeName, clock.instant())) {
            tallies.tell(event, nanoTime.getAsLong());
        }
    }

    /** The last Xid of each GPU; may be read by any thread. */
    XidHistory xids() {
        return xids;
    }

    void read(KernelRecord record, LogSource.Cursor behind) {
        counts.record(record.writer());
        // Only files cut a message of the driver into several records.
        String text = record.writer() == Writer.UNTOLD ? wrapped.join(record.text()) : record.text();
        Optional<Signal> parsed = parser.parse(text);
        boolean kernels = record.writer() == Writer.KERNEL || record.writer() == Writer.UNTOLD;
        if (kernels) {
            others(record, behind);
        }
        if (parsed.isEmpty()) {
            if (kernels && !rulings.rules().patterns().isEmpty()) {
                patterns(record, text, behind);
            }
            return;
        }
        Signal signal = parsed.get();
        if (!kernels && !(signal.kind() == Kind.GPU_RESET && record.writer() == Writer.PRIVILEGED)) {
            counts.forged();
            return;
        }
        counts.signal(signal);
        Instant when = when(record);
        switch (signal.kind()) {
            case GPU_NAMED -> signal.pci().ifPresent(pci -> signal.gpuUuid().ifPresent(uuid -> names.learn(pci, uuid)));
            case GPU_RESET -> reset(signal, text, when, behind);
            default -> fault(signal, text, when, behind);
        }
    }

    private void others(KernelRecord record, LogSource.Cursor behind) {
        for (RecordRules.Found found : others.match(record)) {
            counts.matched(found.code());
            // Such rules do not say what to do: what lasts is for a person to look at, and what passed asks for
            // nothing.
            tallies.add(
                    new Occurrence(
                            new Occurrence.Key(
                                    new Checks.Check(found.check(), "NODE"),
                                    found.code(),
                                    List.of(),
                                    found.lasting() ? RecommendedAction.CONTACT_SUPPORT : RecommendedAction.NONE),
                            found.lasting() ? Severity.FATAL : Severity.WARNING,
                            cut(found.message(), LONGEST_LINE),
                            Map.of(WHY, cut(found.origin(), LONGEST_WHY)),
                            when(record),
                            behind),
                    nanoTime.getAsLong());
        }
    }

    private void fault(Signal signal, String text, Instant when, LogSource.Cursor behind) {
        Optional<PciAddress> pci = signal.pci().map(GpuNames::whole);
        if (signal.kind() == Kind.XID) {
            pci.ifPresent(at -> xids.told(at, signal.family()));
        }
        if (signal.kind() == Kind.XID && signal.code().equals(LostGpus.XID)) {
            lost.told(pci, when);
        } else if (signal.kind() == Kind.FALLEN_OFF_BUS && lost.toldLately(pci, when)) {
            counts.suppressed();
            return;
        }
        Ruling ruling = rulings.of(signal, pci, when);
        if (ruling.ignore() || ruling.severity() == Severity.INFO) {
            counts.silent();
            return;
        }
        Optional<String> uuid =
                signal.kind() == Kind.SXID ? Optional.empty() : signal.gpuUuid().or(() -> pci.flatMap(names::uuid));
        Map<String, String> details = new HashMap<>(signal.details());
        signal.pid().ifPresent(pid -> details.put("pid", pid));
        signal.process().ifPresent(process -> details.put("process", process));
        details.put(WHY, cut(signal.why(), LONGEST_WHY));
        boolean gpu = pci.isPresent() && (uuid.isPresent() || !signal.code().startsWith("pcie-"));
        tallies.add(
                new Occurrence(
                        new Occurrence.Key(
                                Checks.of(signal, gpu),
                                signal.code(),
                                names.entities(pci, uuid),
                                possible(ruling.action(), uuid, details)),
                        ruling.severity(),
                        message(signal.name(), text),
                        details,
                        when,
                        behind),
                nanoTime.getAsLong());
    }

    /** A reset of one GPU needs its UUID: whoever resets knows GPUs by no other name, and is answered for no other. */
    private static RecommendedAction possible(
            RecommendedAction action, Optional<String> uuid, Map<String, String> details) {
        if (action == RecommendedAction.COMPONENT_RESET && uuid.isEmpty()) {
            details.put(DEMOTED, action.name());
            return RecommendedAction.RESTART_VM;
        }
        return action;
    }

    private void reset(Signal signal, String text, Instant when, LogSource.Cursor behind) {
        Optional<String> uuid = signal.gpuUuid();
        Optional<PciAddress> pci = signal.pci().map(GpuNames::whole).or(() -> uuid.flatMap(names::pci));
        List<Entity> gpu = names.entities(pci, uuid);
        if (gpu.isEmpty()) {
            return;
        }
        if (signal.code().equals("reset")) {
            lost.isBack(pci);
            tallies.settle(key -> key.concerns(gpu));
            for (HealthEvent event : Checks.reset(gpu, nodeName, when)) {
                tallies.tell(event, nanoTime.getAsLong());
            }
            return;
        }
        Map<String, String> details = Map.of(WHY, cut(signal.why(), LONGEST_WHY));
        tallies.add(
                new Occurrence(
                        new Occurrence.Key(
                                Checks.of(signal, true), Checks.RESET_FAILURE, gpu, RecommendedAction.RESTART_VM),
                        Severity.FATAL,
                        message(Checks.RESET_FAILURE, text),
                        details,
                        when,
                        behind),
                nanoTime.getAsLong());
    }

    private void patterns(KernelRecord record, String text, LogSource.Cursor behind) {
        for (PatternRule rule : rulings.rules().patterns()) {
            Optional<BoundedPattern.Match> match = rule.pattern().find(text);
            if (match.isEmpty()) {
                continue;
            }
            Optional<PciAddress> pci =
                    match.get().pci().flatMap(PciAddress::parse).map(GpuNames::whole);
            Optional<String> uuid = match.get().gpuUuid().or(() -> pci.flatMap(names::uuid));
            Instant when = when(record);
            counts.matched(rule.code());
            List<Entity> part = names.entities(pci, uuid);
            if (rule.ruling().severity() == Severity.INFO || !rulings.reached(rule, part, when)) {
                counts.silent();
                return;
            }
            Map<String, String> details = new HashMap<>(Map.of(WHY, cut(rule.origin(), LONGEST_WHY)));
            tallies.add(
                    new Occurrence(
                            new Occurrence.Key(
                                    new Checks.Check(rule.check(), rule.componentClass()),
                                    rule.code(),
                                    part,
                                    possible(rule.ruling().action(), uuid, details)),
                            rule.ruling().severity(),
                            message(rule.message(), text),
                            details,
                            when,
                            behind),
                    nanoTime.getAsLong());
            return;
        }
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
