package dev.gpuwarden.daemon.app;

import dev.gpuwarden.core.kernel.KernelRecord;
import dev.gpuwarden.core.kernel.RecordRules;
import dev.gpuwarden.daemon.kernlog.DriverBranch;
import dev.gpuwarden.daemon.kernlog.DriverSource;
import dev.gpuwarden.daemon.kernlog.KernelLogMonitor;
import dev.gpuwarden.daemon.kernlog.KernelLogSettings;
import dev.gpuwarden.daemon.node.NodeName;
import dev.gpuwarden.daemon.node.NodePaths;
import dev.gpuwarden.daemon.store.EventStore;
import dev.gpuwarden.daemon.telemetry.DriverEvents;
import dev.gpuwarden.daemon.telemetry.NodeSampler;
import java.util.function.Consumer;

/** The wiring of the daemon's kernel-log monitor to driver, sampler and store. */
record KernelLogSetup(KernelLogSettings settings, RecordRules others, NodeName node, NodePaths paths) {

    /** @throws dev.gpuwarden.cli.UserError if an option or a file that it names is wrong */
    static KernelLogSetup of(KernelLogSettings settings, RecordRules others, NodeName node, NodePaths paths) {
        settings.validate();
        return new KernelLogSetup(settings, others, node, paths);
    }

    /**
     * Starts the monitor; the store receives its events.
     *
     * @param tap receives every record
     */
    KernelLogMonitor start(NodeSampler sampler, EventStore store, Consumer<KernelRecord> tap) {
        DriverEvents events = sampler.events();
        KernelLogMonitor log = new KernelLogMonitor(
                settings,
                new KernelLogMonitor.Surroundings(
                        node,
                        paths,
                        DriverBranch.parser(() -> sampler.snapshot().driver()),
                        sampler::snapshot,
                        store,
                        store::faults,
                        sampler::awaitFirst,
                        new DriverSource.Feed(events::await, events::end),
                        tap));
        log.alsoMatch(others);
        log.start();
        return log;
    }
}
