package dev.gpuwarden.aggregator.fleet;

import java.util.Locale;

/** How a node is, the worst first. */
public enum FleetState {
    FAULTY("in service with faults that stop work"),
    SILENT("nothing is known of them now"),
    QUARANTINED("out of service for their faults"),
    CORDONED("out of service by somebody else"),
    DEGRADED("in service with faults that do not stop work"),
    HEALTHY("in service without faults"),
    /** Neither GPUs nor a NodeHealth: none of this program's business. */
    OTHER("without GPUs");

    private final String text;

    FleetState(String text) {
        this.text = text;
    }

    /** What it means, for people. */
    public String text() {
        return text;
    }

    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
