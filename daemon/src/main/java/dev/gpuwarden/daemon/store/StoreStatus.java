package dev.gpuwarden.daemon.store;

import dev.gpuwarden.core.event.EventWriter.Receipt;
import dev.gpuwarden.core.event.LeftOut;
import dev.gpuwarden.core.event.Outbox.Lag;
import java.util.Map;
import java.util.Optional;
import org.HdrHistogram.Histogram;

/**
 * How the store is.
 *
 * @param path of the file; `:memory:` for none
 * @param memoryCause why events are in memory only; empty where they are in a file
 * @param trouble why nothing can be written now; empty where it can
 * @param sizeBytes of file and log
 * @param events in the history
 * @param faults current
 * @param lastSequence the last number given
 * @param waiting callers that wait for their commit
 * @param heldEvents in memory until the disk takes them
 * @param receipts how many events got each receipt since start
 * @param faultsLeftOut faults since start that found no room among the current ones
 * @param leftOut what of that still waits for room
 * @param deleted events deleted since start for age or size
 * @param setAside files found corrupt since start
 * @param commitMicros a copy: how long transactions took, sync and all
 * @param receivers what each lacks
 */
public record StoreStatus(
        String path,
        Optional<String> memoryCause,
        Optional<String> trouble,
        long sizeBytes,
        long events,
        int faults,
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
