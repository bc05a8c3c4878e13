package dev.gpuwarden.aggregator.rehearsal;

import dev.gpuwarden.aggregator.drain.DrainPolicies;
import dev.gpuwarden.aggregator.janitor.JanitorSettings;
import dev.gpuwarden.aggregator.part.Need;
import dev.gpuwarden.aggregator.remediation.RepairReconciler;
import java.util.List;
import java.util.Optional;

/**
 * The settings of an aggregator that decide on a node with a fault.
 *
 * @param origin the object that they were read from
 * @param unread the reason why they are the defaults, and the modes are unknown; empty if they were read
 * @param forceDrain true if senders may request that all pods leave immediately
 * @param janitor the settings of the janitor; empty if another program carries out resources
 * @param needs the rights that an armed aggregator with these settings needs
 */
public record PipelineSettings(
        String origin,
        Optional<String> unread,
        Mode quarantine,
        Mode drain,
        Mode repair,
        boolean forceDrain,
        DrainPolicies policies,
        RepairReconciler.Settings repairs,
        Optional<JanitorSettings> janitor,
        List<Need.Rights> needs) {

    /** The mode of a part. */
    public enum Mode {
        ARMED,
        DRY_RUN,
        OFF,
        UNKNOWN
    }

    public PipelineSettings {
        needs = List.copyOf(needs);
    }
}
