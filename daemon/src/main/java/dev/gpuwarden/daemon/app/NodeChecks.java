package dev.gpuwarden.daemon.app;

import dev.gpuwarden.checks.CheckEnvironment;
import dev.gpuwarden.checks.CheckEventEmitter;
import dev.gpuwarden.checks.CheckPlan;
import dev.gpuwarden.checks.CheckRunner;
import dev.gpuwarden.checks.NodeBoot;
import dev.gpuwarden.checks.TimeGrid;
import dev.gpuwarden.checks.access.ChildCheck;
import dev.gpuwarden.checks.access.CrashedChecks;
import dev.gpuwarden.checks.access.GpuReleases;
import dev.gpuwarden.checks.access.GpuReservations;
import dev.gpuwarden.checks.access.Isolation;
import dev.gpuwarden.checks.access.MemoryLimit;
import dev.gpuwarden.checks.node.NodePaths;
import dev.gpuwarden.checks.process.ProcessOwners;
import dev.gpuwarden.checks.settings.CheckOptions;
import dev.gpuwarden.checks.settings.CheckSetOptions;
import dev.gpuwarden.checks.telemetry.NodeSampler;
import dev.gpuwarden.checks.verify.LoadChecks;
import dev.gpuwarden.checks.verify.RepairVerifier;
import dev.gpuwarden.checks.verify.VerifyOptions;
import dev.gpuwarden.core.check.Expectations;
import dev.gpuwarden.core.check.Limits;
import dev.gpuwarden.core.event.LeftOut;
import dev.gpuwarden.core.holder.GpuHolders;
import dev.gpuwarden.core.kernel.KernelLogStatus;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.daemon.holders.GpuHolderLookup;
import dev.gpuwarden.daemon.holders.PresentPods;
import dev.gpuwarden.daemon.store.EventStore;
import dev.gpuwarden.daemon.view.ProcessNames;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import picocli.CommandLine.Model.CommandSpec;

/**
 * The wiring of the daemon's checks to sampler, store and kernel log.
 *
 * @param young age up to which what was never seen working may still come
 * @param verification checks with a load on GPUs that run for the verification of a repair alone
 */
record NodeChecks(
        CheckPlan plan,
        CheckPlan verification,
        CheckSetOptions sets,
        Limits limits,
        Expectations expectations,
        Duration young,
        String nodeName,
        ChildCheck child) {

    /** The interval of most passive checks. */
    private static final Duration VERIFICATION = Duration.ofSeconds(15);

    /** @throws dev.gpuwarden.cli.UserError if an option or a file that it names is wrong */
    static NodeChecks of(CheckOptions options, VerifyOptions verify, String nodeName, CommandSpec command) {
        CheckPlan all = options.all(nodeName);
        CheckPlan plan = options.daemonPlan(all);
        List<String> own = plan.ids();
        return new NodeChecks(
                plan,
                options.plan(all, verify.checks().most()).withLoad().only(id -> !own.contains(id)),
                options.sets(),
                options.limits(),
                options.expectations(),
                options.young(),
                nodeName,
                new ChildCheck(() -> ChildSettings.ofCheck(command)));
    }

    /** Starts the checks, and writes their results to Kubernetes where that is enabled. */
    void open(DaemonParts parts) {
        DaemonCommand settings = parts.settings;
        GpuReservations gpus = parts.closer.add(access(parts));
        parts.releases = parts.closer.add(new GpuReleases(gpus, parts.sampler, settings.paths.devices()));
        parts.checks = start(parts, gpus, new WorkDrivers(settings.sampling, settings.libraries, settings.events));
        parts.cluster.ifPresent(target -> ConditionSource.keep(target, parts));
    }

    /**
     * Returns the permission of checks to give work to GPUs. Reports checks that an earlier run of the daemon left in
     * flight, as faults in the store. Records are beside the store's file; without one there are none, as there are no
     * events after a restart.
     */
    private GpuReservations access(DaemonParts parts) {
        NodeSampler sampler = parts.sampler;
        EventStore store = parts.store;
        NodePaths paths = parts.settings.paths;
        Optional<Path> folder = store.status().memoryCause().isPresent()
                ? Optional.empty()
                : Optional.of(parts.settings.events.path().resolveSibling("in-flight"));
        CrashedChecks crashed = new CrashedChecks(store, store, nodeName, Clock.systemUTC());
        ProcessOwners owners = new ProcessOwners(paths);
        Supplier<Reading<GpuHolders>> pods = PresentPods.of(paths, sampler::snapshot, GpuHolderLookup.DAEMON_PATIENCE);
        return GpuReservations.of(
                sampler,
                // The driver lists no process of another namespace, so an empty list proves nothing here.
                () -> owners.hiddenBecause()
                        .map(why -> Reading.<GpuHolders>absent(Absence.NO_PERMISSION, 0, why))
                        .orElseGet(pods),
                ProcessNames.of(paths),
                folder,
                crashed,
                sets.periodicOnBusy(),
                new Isolation(sets.isolation(), crashed::isCurrent, new MemoryLimit()));
    }

    /** Starts the checks, and the verification of repairs by them; the store receives their events. */
    private CheckRunner start(DaemonParts parts, GpuReservations access, WorkDrivers drivers) {
        NodeSampler sampler = parts.sampler;
        EventStore store = parts.store;
        NodePaths paths = parts.settings.paths;
        Clock clock = Clock.systemUTC();
        CheckEnvironment around = new CheckEnvironment(
                        sampler::snapshot,
                        parts.history::of,
                        limits,
                        expectations,
                        drivers.sources(sampler, access)
                                .withLocal(KernelLogStatus.class, parts.kernelLog::status)
                                .withLocal(LeftOut.class, () -> Reading.of(store.leftOut())),
                        paths,
                        clock)
                .withBoot(NodeBoot.of(young, paths, drivers.events().bootFile()));
        CheckEventEmitter emitter = new CheckEventEmitter(plan, store, store, nodeName);
        emitter.begin(clock);
        CheckPlan run = plan.withLoadRunBy(check -> access.isolated(check, child));
        TimeGrid grid = TimeGrid.ofNode(nodeName, sampler.epochNanos(), clock.instant(), System.nanoTime());
        CheckRunner runner = parts.closer.add(new CheckRunner(run, around, emitter::accept, grid));
        sampler.whenStatesChange(runner::runSoon);
        AtomicBoolean complete = new AtomicBoolean(store.leftOut().isEmpty());
        // Until the store is closed. Events without room affect the verdict, so do not wait for the next round.
        var unused = store.listen(change -> {
            boolean now = store.leftOut().isEmpty();
            if (complete.getAndSet(now) != now) {
                runner.runSoon();
            }
        });
        runner.dampingFrom(emitter::damping);
        runner.start();
        LoadChecks work = new LoadChecks(
                verification.withLoadRunBy(check -> access.isolated(check, child)), around, new MemoryLimit()::refusal);
        parts.closer.add(new RepairVerifier(runner, work, store, store, clock, VERIFICATION).start());
        return runner;
    }
}
