package dev.gpuwarden.daemon.metrics;

import dev.gpuwarden.daemon.store.StoreStatus;
import io.prometheus.metrics.model.snapshots.Labels;
import java.util.Locale;
import java.util.function.Supplier;

/** State of the event store: whether it can be written, its size, and the events that its receivers lack. */
public final class StoreCollector implements Collector {

    private static final Family IN_MEMORY =
            Family.gauge("gpuwarden_store_in_memory", "1 if events are in memory only and lost when the daemon ends.");
    private static final Family FAILING =
            Family.gauge("gpuwarden_store_failing", "1 while the event store cannot be written.");
    private static final Family SIZE =
            Family.gauge("gpuwarden_store_size", "bytes", "Size of the event store with its log.");
    private static final Family EVENTS = Family.gauge("gpuwarden_store_events", "Events in the event store.");
    private static final Family WAITING =
            Family.gauge("gpuwarden_store_waiting", "Senders that wait until their events are stored.");
    private static final Family HELD =
            Family.gauge("gpuwarden_store_held_events", "Events in memory until the event store can be written again.");
    private static final Family HELD_BYTES =
            Family.gauge("gpuwarden_store_held", "bytes", "Memory that events take until they can be written.");
    private static final Family RECEIPTS = Family.counter(
            "gpuwarden_store_receipts", "Reported events by result: held and refused ones are not acknowledged.");
    private static final Family LEFT_OUT = Family.counter(
            "gpuwarden_store_faults_left_out", "Faults left out because there was no room among the current ones.");
    private static final Family WAITING_FOR_ROOM = Family.gauge(
            "gpuwarden_store_left_out_reports",
            "Reports of faults that wait for room among the current ones; until then the node is not fit.");
    private static final Family DELETED =
            Family.counter("gpuwarden_store_deleted_events", "Events deleted for age or for the size of the store.");
    private static final Family CORRUPT =
            Family.counter("gpuwarden_store_corrupt_files", "Files found corrupt, renamed and replaced by new ones.");
    private static final Family COMMIT = Family.summary(
            "gpuwarden_store_commit_duration", "seconds", "Duration of transactions, including the sync of the disk.");
    private static final Family LACKS =
            Family.gauge("gpuwarden_store_receiver_waiting_events", "Events that a receiver has not acknowledged.");
    private static final Family DROPPED = Family.counter(
            "gpuwarden_store_receiver_dropped_events",
            "Events deleted for the size of the store before a receiver accepted them.");

    private final Supplier<StoreStatus> store;

    public StoreCollector(Supplier<StoreStatus> store) {
        this.store = store;
    }

    @Override
    public String name() {
        return "store";
    }

    @Override
    public void collect(Scrape scrape, Family.Series out) {
        StoreStatus status = store.get();
        out.add(IN_MEMORY, Labels.EMPTY, status.memoryCause().isPresent() ? 1 : 0);
        out.add(FAILING, Labels.EMPTY, status.trouble().isPresent() ? 1 : 0);
        out.add(SIZE, Labels.EMPTY, status.sizeBytes());
        out.add(EVENTS, Labels.EMPTY, status.events());
        out.add(WAITING, Labels.EMPTY, status.waiting());
        out.add(HELD, Labels.EMPTY, status.heldEvents());
        out.add(HELD_BYTES, Labels.EMPTY, status.heldBytes());
        status.receipts()
                .forEach((receipt, count) ->
                        out.add(RECEIPTS, Labels.of("receipt", receipt.name().toLowerCase(Locale.ROOT)), count));
        out.add(LEFT_OUT, Labels.EMPTY, status.faultsLeftOut());
        status.leftOut()
                .shares()
                .forEach(share -> out.add(WAITING_FOR_ROOM, Labels.of("agent", share.agent()), share.reports()));
        out.add(DELETED, Labels.EMPTY, status.deleted());
        out.add(CORRUPT, Labels.EMPTY, status.setAside());
        out.add(COMMIT, Labels.EMPTY, status.commitMicros());
        status.receivers().forEach((receiver, lag) -> {
            Labels labels = Labels.of("receiver", receiver);
            out.add(LACKS, labels, lag.waiting());
            out.add(DROPPED, labels, lag.dropped());
        });
    }
}
