package dev.gpuwarden.daemon.app;

import dev.gpuwarden.checks.telemetry.DriverEvents;
import dev.gpuwarden.core.kernel.RecordRules;
import dev.gpuwarden.daemon.kernlog.DriverBranch;
import dev.gpuwarden.daemon.kernlog.DriverSource;
import dev.gpuwarden.daemon.kernlog.KernelLogMonitor;
import dev.gpuwarden.daemon.recorder.RecentKernelLines;
import java.time.Clock;

/** The wiring of the kernel log to sampler and store. */
final class KernelLogWiring {

    private KernelLogWiring() {}

    /** Starts the monitor; the store receives its events, and the lines receive every record. */
    static void open(DaemonParts parts, RecordRules others) {
        DriverEvents driver = parts.sampler.events();
        parts.lines = new RecentKernelLines(Clock.systemUTC());
        KernelLogMonitor log = new KernelLogMonitor(
                parts.settings.kernelLog,
                new KernelLogMonitor.Surroundings(
                        parts.settings.node,
                        parts.settings.paths,
                        DriverBranch.parser(() -> parts.sampler.snapshot().driver()),
                        parts.sampler::snapshot,
                        parts.store,
                        parts.store::faults,
                        parts.sampler::awaitFirst,
                        new DriverSource.Feed(driver::await, driver::end),
                        parts.lines));
        log.alsoMatch(others);
        if (parts.settings.checks.sets().verifiesAfterBoot()) {
            log.verifyRepairs();
        }
        log.start();
        parts.kernelLog = parts.closer.add(log);
    }
}
