package dev.gpuwarden.daemon.kernlog;

import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.checks.node.NodeName;
import dev.gpuwarden.checks.node.NodePaths;
import dev.gpuwarden.checks.node.PciBus;
import dev.gpuwarden.checks.telemetry.DriverEvents;
import dev.gpuwarden.checks.telemetry.NodeSampler;
import dev.gpuwarden.checks.telemetry.SamplingSettings;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.health.Outcome;
import dev.gpuwarden.core.kernel.KernelLogParser;
import dev.gpuwarden.core.port.DriverProvider;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The driver library of a simulated node reports its XIDs, and the monitor reads them where there is no log. */
class DriverSourceTest {

    private final RecordingIntake store = new RecordingIntake(Clock.systemUTC());
    private SimulatedNode node;
    private NodeSampler sampler;

    @BeforeEach
    void start() {
        node = SimulatedNode.start("h100x8");
        SamplingSettings settings = SamplingSettings.of(
                        Duration.ofSeconds(1), Duration.ofSeconds(10), Duration.ofDays(1), Duration.ofSeconds(2))
                .withLibraryPath(node.libraryPath().toString());
        sampler = new NodeSampler(
                ServiceLoader.load(DriverProvider.class).findFirst().orElseThrow(), settings, new PciBus(paths()));
        sampler.start();
        assertThat(sampler.awaitFirst(Duration.ofSeconds(20))).isTrue();
    }

    @AfterEach
    void end() {
        sampler.close();
        node.close();
    }

    private NodePaths paths() {
        return NodePaths.of(node.procfs(), node.sysfs(), node.podLogs());
    }

    private KernelLogMonitor monitor(KernelLogSettings settings) {
        DriverEvents events = sampler.events();
        KernelLogMonitor monitor = new KernelLogMonitor(
                settings,
                new KernelLogMonitor.Surroundings(
                        NodeName.of("node1"),
                        paths(),
                        KernelLogParser.standard(),
                        sampler::snapshot,
                        store,
                        store::faults,
                        longest -> {},
                        new DriverSource.Feed(events::await, events::end),
                        record -> {}));
        monitor.start();
        return monitor;
    }

    private Outcome judged(KernelLogMonitor monitor) {
        return KernelLogCheck.judge(monitor.status(), Clock.systemUTC().instant())
                .outcome();
    }

    private Set<String> codes() {
        return store.faults().stream().map(fault -> fault.key().errorCode()).collect(Collectors.toSet());
    }

    @Test
    void driverXidsBecomeFaultsWithoutALog() {
        Path nowhere = node.procfs().resolve("no-kmsg");
        try (KernelLogMonitor monitor = monitor(MonitoredKernelLog.settings(KernelLogSettings.Source.AUTO, nowhere))) {
            until(() -> monitor.status()
                    .asOptional()
                    .flatMap(status -> status.unreadable())
                    .isPresent());
            assertThat(monitor.status().asOptional().orElseThrow().unreadable().orElseThrow())
                    .isEqualTo(nowhere + " does not exist; XIDs are taken from the driver's events until then");
            assertThat(judged(monitor)).isEqualTo(Outcome.UNKNOWN);
            node.set("gpu.4.xid", "79");
            until(() -> store.events().size() == 1);
            HealthEvent event = store.events().get(0);
            assertThat(event.checkName()).isEqualTo("SysLogsXIDError");
            assertThat(event.errorCodes()).containsExactly("79");
            assertThat(event.fatal()).isTrue();
            assertThat(event.action()).isEqualTo(RecommendedAction.RESTART_BM);
            var gpu = sampler.snapshot().gpus().get(4).identity();
            assertThat(event.entities())
                    .contains(Entity.gpu(gpu.uuid().asOptional().orElseThrow()));
            assertThat(event.message()).endsWith("79, reported by the driver, without the kernel's line");
            node.set("gpu.4.xid", "79");
            node.set("gpu.2.xid", "94");
            until(() -> codes().equals(Set.of("79", "94")));
        }
    }

    @Test
    void sourceEndsWhenALogBecomesReadable() throws Exception {
        Path log = node.procfs().resolve("late-kmsg");
        BooleanSupplier there = () -> Files.exists(log);
        DriverEvents events = sampler.events();
        AtomicInteger waits = new AtomicInteger();
        DriverSource.Feed feed = new DriverSource.Feed(
                timeout -> {
                    waits.incrementAndGet();
                    return events.await(Duration.ZERO);
                },
                events::end);
        Files.writeString(log, "");
        RecordingSink.once(
                new DriverSource(feed, uuid -> Optional.empty(), Optional.of("no log"), there, Clock.systemUTC()));
        assertThat(waits.get()).isEqualTo(60);
    }

    @Test
    void driverSourceNeedsNoLog() {
        try (KernelLogMonitor monitor = monitor(MonitoredKernelLog.settings(KernelLogSettings.Source.DRIVER, null))) {
            until(() -> monitor.status().asOptional().isPresent());
            assertThat(monitor.status().asOptional().orElseThrow().unreadable()).isEmpty();
            assertThat(judged(monitor)).isEqualTo(Outcome.SKIPPED);
            node.set("gpu.0.xid", "48");
            until(() -> store.events().size() == 1);
            assertThat(codes()).containsExactly("48");
        }
    }
}
