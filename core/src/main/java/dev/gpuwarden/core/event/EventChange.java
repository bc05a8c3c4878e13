package dev.gpuwarden.core.event;

/**
 * One committed write of the event store.
 *
 * @param stored the event that was stored, or the stored event with which a repetition was counted
 * @param change the effect on the current faults
 */
public record EventChange(StoredEvent stored, FaultTable.Change change) {}
