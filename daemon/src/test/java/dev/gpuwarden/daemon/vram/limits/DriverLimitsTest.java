package dev.gpuwarden.daemon.vram.limits;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.port.CgroupLimits;
import dev.gpuwarden.core.port.CgroupLimits.Limit;
import dev.gpuwarden.core.port.Driver;
import dev.gpuwarden.core.port.DriverOptions;
import dev.gpuwarden.core.port.DriverOptions.SamplerPath;
import dev.gpuwarden.core.port.DriverProvider;
import dev.gpuwarden.core.port.Opening;
import dev.gpuwarden.daemon.app.ChildJvm;
import dev.gpuwarden.daemon.vram.watch.Observations.Observed;
import dev.gpuwarden.testkit.Execution;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import dev.gpuwarden.watchdog.observation.GpuBytes;
import dev.gpuwarden.watchdog.observation.GpuObservation;
import dev.gpuwarden.watchdog.observation.ProcessKey;
import dev.gpuwarden.watchdog.observation.Tenant;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The simulated driver R615 holds a real process to its budget. The group is the topmost one, so that no right is needed. */
@Tag("programs")
class DriverLimitsTest {

    private static final int MIB = 1 << 20;

    @TempDir
    Path folder;

    private SimulatedNode node;
    private Driver driver;
    private CgroupFolders folders;
    private boolean blind;
    private List<Tenant> tenants = List.of();

    @BeforeEach
    void start() throws IOException {
        Path scenario = Files.writeString(
                folder.resolve("t4-615.yaml"), "description: T4 with R615\ndriver: 615\ngpus:\n  - profile: t4\n");
        node = SimulatedNode.start(scenario.toString());
        DriverOptions options = new DriverOptions(List.of(node.libraryPath().toString()), SamplerPath.JNA);
        driver = ((Opening.Opened<Driver>) ServiceLoader.load(DriverProvider.class)
                        .findFirst()
                        .orElseThrow()
                        .open(options))
                .driver();
        Path group = Files.createDirectories(folder.resolve("proc/1")).resolve("cgroup");
        Files.writeString(group, "1:cpu:/other\n0::/.\n");
        folders = new CgroupFolders(folder.resolve("proc"), Path.of("/proc/self/mountinfo"));
        tenants = List.of(tenant(3000));
    }

    @AfterEach
    void stop() {
        driver.close();
        node.close();
    }

    private static Tenant tenant(long budgetMib) {
        return new Tenant(
                "unit:a",
                "a.service",
                "a.service",
                Reading.of(budgetMib * MIB),
                Reading.of(0L),
                Set.of(new ProcessKey(1, 1)),
                0,
                Instant.EPOCH,
                Optional.empty(),
                false);
    }

    private List<Observed> seen() {
        GpuIdentity gpu = driver.identify(0);
        Reading<GpuBytes> memory =
                blind ? Reading.absent(Absence.STALE) : Reading.of(new GpuBytes(15360L * MIB, 0, 0, 15360L * MIB));
        return List.of(new Observed(gpu, new GpuObservation(gpu.selector(), 1, 1, memory, Reading.of(tenants), 1)));
    }

    private DriverLimits limits(LimitMode mode, boolean armed) {
        return new DriverLimits(this::seen, () -> Reading.of(driver.cgroupLimits()), folders, mode, armed);
    }

    private Optional<Limit> current() throws IOException {
        String group;
        try (Stream<String> mounts = Files.lines(Path.of("/proc/self/mountinfo"))) {
            group = mounts.filter(line -> line.contains(" - cgroup2 "))
                    .map(line -> line.split(" ")[4])
                    .findFirst()
                    .orElseThrow();
        }
        return driver.cgroupLimits()
                .get(driver.identify(0).uuid().asOptional().orElseThrow(), group)
                .map(CgroupLimits.Use::limit)
                .asOptional();
    }

    private Execution use(int mib) throws Exception {
        return Execution.of(ChildJvm.gpuwarden(
                        List.of("sim", "use", "--node", node.root().toString(), "--gpu=0", "--mib=" + mib, "--for=1s"))
                .redirectErrorStream(true)
                .start());
    }

    @Test
    void aProcessGetsItsBudgetAndNoMore() throws Exception {
        DriverLimits limits = limits(LimitMode.cap, true);
        limits.reconcile();
        assertThat(current()).contains(new Limit(3000L * MIB, OptionalLong.of(3000L * MIB)));
        assertThat(use(2000))
                .satisfies(run -> assertThat(run.code()).as(run.toString()).isZero());
        assertThat(use(3500).code()).isNotZero();
        tenants = List.of(tenant(5000));
        limits.reconcile();
        assertThat(use(3500).code()).isZero();
        tenants = List.of();
        limits.reconcile();
        assertThat(current()).isEmpty();
    }

    @Test
    void aGuaranteeHasNoUpperBound() throws Exception {
        DriverLimits limits = limits(LimitMode.guarantee, true);
        limits.reconcile();
        assertThat(current()).contains(new Limit(3000L * MIB, OptionalLong.empty()));
    }

    @Test
    void limitsOfAGpuThatIsNotReadStay() throws Exception {
        DriverLimits limits = limits(LimitMode.guarantee, true);
        limits.reconcile();
        blind = true;
        tenants = List.of();
        limits.reconcile();
        assertThat(current()).contains(new Limit(3000L * MIB, OptionalLong.empty()));
        blind = false;
        limits.reconcile();
        assertThat(current()).isEmpty();
    }

    @Test
    void aDryRunSetsNothing() throws Exception {
        DriverLimits limits = limits(LimitMode.cap, false);
        limits.reconcile();
        assertThat(current()).isEmpty();
    }

    @Test
    void theEndRemovesTheLimits() throws Exception {
        DriverLimits limits = DriverLimits.start(
                this::seen, () -> Reading.of(driver.cgroupLimits()), folder.resolve("proc"), LimitMode.guarantee, true);
        while (current().isEmpty()) {
            Thread.sleep(20);
        }
        limits.close();
        assertThat(current()).isEmpty();
    }
}
