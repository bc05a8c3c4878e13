package dev.gpuwarden.daemon.store;

import dev.gpuwarden.core.event.EventWriter.Receipt;
import dev.gpuwarden.core.event.LeftOut;
import dev.gpuwarden.core.event.Outbox.Lag;
import java.util.Map;
import java.util.Optional;
import org.HdrHistogram.Histogram;

/**
 * The state of the store.
 *
 * @param memoryCause why events are in memory only; empty if they are in a file
 * @param trouble why writes fail now; empty if they succeed
 * @param sizeBytes of file and log
 * @param events in the history
 * @param lastSequence the last sequence number
 * @param waiting requests that wait for their commit
 * @param heldEvents events in memory that the disk has not taken
 * @param receipts events since start by their receipt
 * @param faultsLeftOut faults since start that found no room among the current ones
 * @param leftOut the reports that still wait for room
 * @param deleted events deleted since start for age or size
 * @param setAside files found corrupt since start
 * @param commitMicros the durations of transactions, including sync; a copy
 * @param receivers the events that wait for each receiver
 */
public record StoreStatus(
        Optional<String> memoryCause,
        Optional<String> trouble,
        long sizeBytes,
        long events,
        long lastSequence,
        int waiting,
        int heldEvents,
        long heldBytes,
        Map<Receipt, Long> receipts,
        long faultsLeftOut,
        LeftOut leftOut,
        long deleted,
        long setAside,
        Histogram commitMicros,
        Map<String, Lag> receivers) {}
