package dev.gpuwarden.daemon.metrics;

import dev.gpuwarden.daemon.store.StoreStatus;
import io.prometheus.metrics.model.snapshots.Labels;
import java.util.Locale;
import java.util.function.Supplier;

/** State of the event store: whether it can be written, its size, and the events that its receivers lack. */
public final class StoreCollector implements Collector {

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
        out.add("gpuwarden_store_in_memory", Labels.EMPTY, status.memoryCause().isPresent() ? 1 : 0);
        out.add("gpuwarden_store_failing", Labels.EMPTY, status.trouble().isPresent() ? 1 : 0);
        out.add("gpuwarden_store_size_bytes", Labels.EMPTY, status.sizeBytes());
        out.add("gpuwarden_store_events", Labels.EMPTY, status.events());
        out.add("gpuwarden_store_waiting", Labels.EMPTY, status.waiting());
        out.add("gpuwarden_store_held_events", Labels.EMPTY, status.heldEvents());
        out.add("gpuwarden_store_held_bytes", Labels.EMPTY, status.heldBytes());
        status.receipts()
                .forEach((receipt, count) -> out.add(
                        "gpuwarden_store_receipts",
                        Labels.of("receipt", receipt.name().toLowerCase(Locale.ROOT)),
                        count));
        out.add("gpuwarden_store_faults_left_out", Labels.EMPTY, status.faultsLeftOut());
        status.leftOut()
                .shares()
                .forEach(share -> out.add(
                        "gpuwarden_store_left_out_reports", Labels.of("agent", share.agent()), share.reports()));
        out.add("gpuwarden_store_deleted_events", Labels.EMPTY, status.deleted());
        out.add("gpuwarden_store_corrupt_files", Labels.EMPTY, status.setAside());
        out.add("gpuwarden_store_commit_duration_seconds", Labels.EMPTY, status.commitMicros());
        status.receivers().forEach((receiver, lag) -> {
            Labels labels = Labels.of("receiver", receiver);
            out.add("gpuwarden_store_receiver_waiting_events", labels, lag.waiting());
            out.add("gpuwarden_store_receiver_dropped_events", labels, lag.dropped());
        });
    }
}
