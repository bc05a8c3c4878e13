package dev.gpuwarden.daemon.kernlog;

import dev.gpuwarden.core.event.EventWriter.Position;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.kernel.KernelLogParser;
import dev.gpuwarden.core.kernel.KernelLogStatus;
import dev.gpuwarden.core.kernel.KernelRecord;
import dev.gpuwarden.core.kernel.KernelRecord.Writer;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.testkit.TestClock;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A classifier and a batcher with a store behind them, without threads. */
final class ClassifierFixture {

    static final String GPU = "GPU-455d8f70-2051-db6c-0430-ffc457bff834";
    static final String XID79 =
            "NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.";
    static final String XID13 =
            "NVRM: Xid (PCI:0000:3b:00): 13, pid=7, name=python3, Graphics Exception: ESR 0x404000=0x80000002";

    private static final String BOOT = "boot-1";

    final TestClock time;
    final RecordingIntake store;
    final EventBatcher batcher;
    final KernelMessageClassifier classifier;
    private final KernelLogStats.Counters counters = new KernelLogStats.Counters(TestClock.START);
    private final Map<PciAddress, String> listed = new HashMap<>();
    private final GpuNames names;
    private final EndedFaults ended = new EndedFaults();
    private final Duration quiet = Duration.ofMinutes(10);
    private long sequence;

    ClassifierFixture() {
        this(Rules.NONE);
    }

    ClassifierFixture(Rules rules) {
        this(rules, new TestClock());
    }

    private ClassifierFixture(Rules rules, TestClock time) {
        this(rules, time, new RecordingIntake(time));
    }

    /** A new process, which resumes from the store. */
    ClassifierFixture(Rules rules, TestClock time, RecordingIntake store) {
        this.time = time;
        this.store = store;
        names = new GpuNames(() -> listed, time);
        batcher = new EventBatcher(Duration.ofSeconds(10), time);
        classifier = new KernelMessageClassifier("node1", KernelLogParser.standard(), rules, names, counters, time);
        store.position(EventBatcher.NAMES).ifPresent(position -> names.recall(position.cursor()));
        classifier.resume(store.faults());
        counters.readable();
    }

    ClassifierFixture driverLists(String pci, String uuid) {
        listed.put(PciAddress.parse(pci).orElseThrow(), uuid);
        return this;
    }

    ClassifierFixture kernel(String text) {
        return record(Writer.KERNEL, time.instant(), text);
    }

    ClassifierFixture record(Writer writer, Instant when, String text) {
        return record(new KernelRecord(when, writer, text));
    }

    ClassifierFixture record(KernelRecord record) {
        return add(classifier.classify(record), sequence++);
    }

    ClassifierFixture reboot() {
        return add(classifier.reboot(), sequence);
    }

    private ClassifierFixture add(List<Occurrence> events, long at) {
        batcher.add(events, BOOT, () -> "test:" + at);
        return this;
    }

    ClassifierFixture after(Duration by) {
        time.advance(by);
        return this;
    }

    /** Stores what waits if something is due, as the monitor does. */
    List<HealthEvent> flushIfDue() {
        return batcher.isDue() ? flush() : List.of();
    }

    /** Stores what waits. */
    List<HealthEvent> flush() {
        List<HealthEvent> events =
                FaultPolicy.keepFatal(ended.narrow(batcher.flush(), store.faults(), time.instant()), store.faults());
        names.news()
                .ifPresent(text -> store.accept(List.of(), Optional.of(new Position(EventBatcher.NAMES, BOOT, text))));
        store.accept(events, Optional.of(new Position(EventBatcher.POSITION, BOOT, "test:" + (sequence - 1))));
        return events;
    }

    /** Clears the faults that have been quiet for long enough. */
    List<HealthEvent> clearQuiet() {
        List<HealthEvent> events = FaultPolicy.clearQuiet(store.faults(), List.of(), quiet, time.instant());
        store.accept(events, Optional.empty());
        return events;
    }

    KernelLogStatus status() {
        return counters.status(batcher.collapsed()).asOptional().orElseThrow();
    }

    KernelLogStats stats() {
        return counters.stats(0, 0, 0, Reading.absent(Absence.NO_DATA));
    }

    void resumeAt(long next) {
        sequence = next;
    }

    /** Returns the last XID of each GPU. */
    Map<PciAddress, Integer> lastXids() {
        return classifier.xids().last();
    }
}
