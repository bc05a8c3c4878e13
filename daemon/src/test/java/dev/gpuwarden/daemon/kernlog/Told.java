package dev.gpuwarden.daemon.kernlog;

import dev.gpuwarden.core.event.EventIntake.Position;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.kernel.KernelLogParser;
import dev.gpuwarden.core.kernel.KernelRecord;
import dev.gpuwarden.core.kernel.KernelRecord.Writer;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.testkit.TestClock;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What the interpreter makes of records, with a store behind it; without threads. */
final class Told {

    static final String GPU = "GPU-455d8f70-2051-db6c-0430-ffc457bff834";
    static final String XID79 =
            "NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.";
    static final String XID13 =
            "NVRM: Xid (PCI:0000:3b:00): 13, pid=7, name=python3, Graphics Exception: ESR 0x404000=0x80000002";

    final TestClock time;
    final RecordingIntake store;
    final LogCounts counts = new LogCounts();
    final Map<PciAddress, String> listed = new HashMap<>();
    final GpuNames names;
    final Tallies tallies;
    final Interpreter interpreter;
    private final Duration quiet = Duration.ofMinutes(10);
    private long sequence;

    Told() {
        this(Rules.NONE);
    }

    Told(Rules rules) {
        this(rules, new TestClock());
    }

    private Told(Rules rules, TestClock time) {
        this(rules, time, new RecordingIntake(time));
    }

    /** Another process that finds what the store holds. */
    Told(Rules rules, TestClock time, RecordingIntake store) {
        this.time = time;
        this.store = store;
        names = new GpuNames(() -> listed, time);
        tallies = new Tallies("node1", () -> "boot-1", Duration.ofSeconds(10));
        interpreter = new Interpreter("node1", KernelLogParser.standard(), rules, names, tallies, counts, time, time);
        store.position(Ledger.NAMES).ifPresent(position -> names.recall(position.cursor()));
        interpreter.goOn(store.faults());
    }

    Told driverLists(String pci, String uuid) {
        listed.put(PciAddress.parse(pci).orElseThrow(), uuid);
        return this;
    }

    Told kernel(String text) {
        return record(Writer.KERNEL, time.instant(), text);
    }

    Told record(Writer writer, Instant when, String text) {
        long at = sequence++;
        interpreter.read(new KernelRecord(when, writer, text), () -> "test:" + at);
        return this;
    }

    Told after(Duration by) {
        time.advance(by);
        return this;
    }

    /** Hands over if something is due, as the monitor does. */
    List<HealthEvent> tell() {
        boolean due = tallies.dueNanos() <= time.getAsLong();
        return due ? flush() : List.of();
    }

    /** Hands over whatever waits. */
    List<HealthEvent> flush() {
        List<HealthEvent> told = Faults.neverLess(tallies.take(time.getAsLong()), store.faults());
        names.news()
                .ifPresent(text -> store.accept(List.of(), Optional.of(new Position(Ledger.NAMES, "boot-1", text))));
        store.accept(told, Optional.of(new Position(Ledger.POSITION, "boot-1", "test:" + (sequence - 1))));
        return told;
    }

    /** Lifts what has been quiet for long enough. */
    List<HealthEvent> lift() {
        List<HealthEvent> lifts = Faults.lifts(store.faults(), List.of(), quiet, time.instant());
        store.accept(lifts, Optional.empty());
        return lifts;
    }

    void goOnAt(long next) {
        sequence = next;
    }
}
