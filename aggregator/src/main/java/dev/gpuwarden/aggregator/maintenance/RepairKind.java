package dev.gpuwarden.aggregator.maintenance;

import dev.gpuwarden.aggregator.client.ResourceKind;

/** A kind of resources that carry out repairs: one of {@link MaintenanceKind}, or that of a user's template. */
public interface RepairKind {

    ResourceKind resources();
}
