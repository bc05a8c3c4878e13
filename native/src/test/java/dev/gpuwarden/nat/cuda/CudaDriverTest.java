package dev.gpuwarden.nat.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.port.ComputeDriver;
import dev.gpuwarden.core.port.ComputeDriver.CopyRates;
import dev.gpuwarden.core.port.ComputeDriver.CopyWork;
import dev.gpuwarden.core.port.ComputeDriver.PeerPair;
import dev.gpuwarden.core.port.ComputeDriver.PeerRate;
import dev.gpuwarden.core.port.ComputeProvider;
import dev.gpuwarden.core.port.Driver;
import dev.gpuwarden.core.port.DriverOptions;
import dev.gpuwarden.core.port.DriverOptions.SamplerPath;
import dev.gpuwarden.core.port.Opening;
import dev.gpuwarden.core.port.Opening.Opened;
import dev.gpuwarden.core.port.Opening.Reason;
import dev.gpuwarden.core.port.Opening.Unavailable;
import dev.gpuwarden.nat.sim.SimNode;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.ServiceLoader;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CudaDriverTest {

    private static final CopyWork SMALL = new CopyWork(1 << 20, Duration.ofMillis(2), Duration.ofSeconds(10));

    @TempDir
    Path folder;

    private SimNode node;

    @BeforeEach
    void start() {
        node = SimNode.of("550", folder)
                .set("header.cuda_version", 12040)
                .set("gpu[0].copy_to_device_mbps", 40_000)
                .set("gpu[0].copy_to_host_mbps", 30_000)
                .set("gpu[1].copy_to_device_mbps", 20_000)
                .set("gpu[1].copy_to_host_mbps", 10_000);
    }

    private Opening<ComputeDriver> open() {
        ComputeProvider provider =
                ServiceLoader.load(ComputeProvider.class).findFirst().orElseThrow();
        return provider.open(new DriverOptions(List.of(node.folder().toString()), SamplerPath.AUTO));
    }

    private ComputeDriver opened() {
        Opening<ComputeDriver> opening = open();
        assertThat(opening).as(opening.toString()).isInstanceOf(Opened.class);
        return ((Opened<ComputeDriver>) opening).driver();
    }

    private static Reading.Absent<?> absent(Reading<CopyRates> reading) {
        assertThat(reading).isInstanceOf(Reading.Absent.class);
        return (Reading.Absent<?>) reading;
    }

    private static void rates(Reading<CopyRates> reading, double toDevice, double toHost) {
        CopyRates rates = reading.asOptional().orElseThrow(() -> new AssertionError(reading));
        assertThat(rates.toDevice()).isCloseTo(toDevice, within(toDevice / 50));
        assertThat(rates.toHost()).isCloseTo(toHost, within(toHost / 50));
    }

    @Test
    void gpusHaveTheNamesOfTheManagementLibrary() {
        assertThat(opened().gpus())
                .hasSize(2)
                .allMatch(uuid -> uuid.matches("GPU-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"));
        assertThat(opened().libraryPath())
                .isEqualTo(node.folder().resolve("libcuda.so.1").toString());
    }

    @Test
    void copiesAreMeasuredByTheGpusClock() {
        ComputeDriver driver = opened();
        List<String> gpus = driver.gpus();
        rates(driver.copy(gpus.subList(0, 1), SMALL).get(0), 40e9, 30e9);
        List<Reading<CopyRates>> together = driver.copy(gpus, SMALL);
        rates(together.get(0), 40e9, 30e9);
        rates(together.get(1), 20e9, 10e9);
    }

    @Test
    void measuringGivesTheMemoryBack() {
        ComputeDriver driver = opened();
        driver.copy(driver.gpus(), SMALL);
        try (Driver nvml = ((Opening.Opened<Driver>) node.opening(SamplerPath.AUTO)).driver()) {
            assertThat(nvml.processes(0)).isEqualTo(Reading.of(List.of()));
        }
    }

    @Test
    void aGpuThatIsNotListedIsAbsentAndTheOthersAreMeasured() {
        ComputeDriver driver = opened();
        List<Reading<CopyRates>> rates =
                driver.copy(List.of("GPU-none", driver.gpus().get(1)), SMALL);
        assertThat(absent(rates.get(0)).cause()).isEqualTo(Absence.NO_DATA);
        rates(rates.get(1), 20e9, 10e9);
    }

    @Test
    void copiesToPeersHaveTheRateOfTheirDirection() {
        ComputeDriver driver = opened();
        String one = driver.gpus().get(0);
        String other = driver.gpus().get(1);
        node.set("gpu[0].peer[1].copy_mbps", 200_000).set("gpu[1].peer[0].copy_mbps", 100_000);
        List<Reading<PeerRate>> rates = driver.copyToPeers(
                List.of(new PeerPair(one, other), new PeerPair(other, one), new PeerPair(one, "GPU-none")), SMALL);
        assertThat(rates.get(0).asOptional().orElseThrow().direct()).isTrue();
        assertThat(rates.get(0).asOptional().orElseThrow().bytesPerSecond()).isCloseTo(200e9, within(4e9));
        assertThat(rates.get(1).asOptional().orElseThrow().bytesPerSecond()).isCloseTo(100e9, within(2e9));
        assertThat(rates.get(2))
                .isInstanceOfSatisfying(
                        Reading.Absent.class, none -> assertThat(none.cause()).isEqualTo(Absence.NO_DATA));
        try (Driver nvml = ((Opening.Opened<Driver>) node.opening(SamplerPath.AUTO)).driver()) {
            assertThat(nvml.processes(0)).isEqualTo(Reading.of(List.of()));
            assertThat(nvml.processes(1)).isEqualTo(Reading.of(List.of()));
        }
    }

    @ParameterizedTest
    @CsvSource({"cuMemAlloc_v2, 2", "cuDevicePrimaryCtxRetain, 46", "cuMemHostAlloc, 999", "cuStreamCreate, 802"})
    void anErrorNamesFunctionAndResult(String function, int code) {
        ComputeDriver driver = opened();
        node.error(0, function, code);
        Reading.Absent<?> why = absent(driver.copy(driver.gpus(), SMALL).get(0));
        assertThat(why.cause()).isEqualTo(Absence.FAILED);
        assertThat(why.code()).isEqualTo(code);
        assertThat(why.detail()).startsWith(function + " answered " + code + " (CUDA_ERROR_");
        node.heal(0);
        rates(driver.copy(driver.gpus(), SMALL).get(0), 40e9, 30e9);
    }

    @Test
    void aStickyErrorIsRepeatedWithoutAnotherCall() {
        ComputeDriver driver = opened();
        node.error(0, "cuEventSynchronize", 214);
        assertThat(absent(driver.copy(driver.gpus(), SMALL).get(0)).code()).isEqualTo(214);
        node.heal(0);
        assertThat(absent(driver.copy(driver.gpus(), SMALL).get(0)).code()).isEqualTo(214);
    }

    @Test
    void aCallThatHangsIsLeftBehindAndItsGpuRefusesMoreWork() {
        ComputeDriver driver = opened();
        node.hang(0, "cuMemcpyDtoHAsync_v2").set("fault[0].gpu", 0);
        CopyWork brief = new CopyWork(SMALL.bytes(), SMALL.busy(), Duration.ofSeconds(1));
        List<Reading<CopyRates>> rates = driver.copy(driver.gpus(), brief);
        assertThat(absent(rates.get(0)).cause()).isEqualTo(Absence.STALE);
        assertThat(absent(rates.get(0)).detail())
                .contains("1000 ms")
                .contains(driver.gpus().get(0));
        rates(rates.get(1), 20e9, 10e9);
        assertThat(absent(driver.copy(driver.gpus(), brief).get(0)).detail()).contains("an earlier call");
        node.heal(0);
    }

    /** The deadline is so long that the test would pass its own limit if the others waited for half of it. */
    @Test
    void aGpuThatRefusesItsContextKeepsNoOtherWaiting() {
        ComputeDriver driver = opened();
        node.set("gpu[0].cuda_result", 46);
        CopyWork patient = new CopyWork(SMALL.bytes(), SMALL.busy(), Duration.ofMinutes(30));
        List<Reading<CopyRates>> rates = driver.copy(driver.gpus(), patient);
        assertThat(absent(rates.get(0)).code()).isEqualTo(46);
        rates(rates.get(1), 20e9, 10e9);
    }

    @Test
    void aPeerThatRefusesItsContextKeepsNoOtherWaiting() {
        ComputeDriver driver = opened();
        node.set("gpu[0].cuda_result", 46);
        CopyWork patient = new CopyWork(SMALL.bytes(), SMALL.busy(), Duration.ofMinutes(30));
        List<String> gpus = driver.gpus();
        List<Reading<PeerRate>> rates = driver.copyToPeers(
                List.of(new PeerPair(gpus.get(0), gpus.get(1)), new PeerPair(gpus.get(1), gpus.get(1))), patient);
        assertThat(rates)
                .extracting(rate -> rate instanceof Reading.Absent<PeerRate> absent ? absent.code() : 0)
                .containsExactly(46, 0);
    }

    @Test
    void aGpuThatHangsBeforeTheOthersBeginDoesNotTakeThemWithIt() {
        ComputeDriver driver = opened();
        node.hang(0, "cuMemAlloc_v2").set("fault[0].gpu", 0);
        CopyWork brief = new CopyWork(SMALL.bytes(), SMALL.busy(), Duration.ofSeconds(2));
        List<Reading<CopyRates>> rates = driver.copy(driver.gpus(), brief);
        assertThat(absent(rates.get(0)).cause()).isEqualTo(Absence.STALE);
        rates(rates.get(1), 20e9, 10e9);
        node.heal(0);
    }

    @Test
    void aStoppedClockIsImplausible() {
        ComputeDriver driver = opened();
        node.set("gpu[0].copy_to_device_mbps", Long.MAX_VALUE / (1 << 20));
        assertThat(absent(driver.copy(driver.gpus(), SMALL).get(0)).cause()).isEqualTo(Absence.IMPLAUSIBLE);
    }

    @Test
    void aLibraryWithoutDriverIsUnavailableWithItsAnswer() {
        node.set("header.init_result", 9);
        assertThat(open()).isInstanceOfSatisfying(Unavailable.class, none -> {
            assertThat(none.reason()).isEqualTo(Reason.DRIVER_NOT_LOADED);
            assertThat(none.code()).isEqualTo(100);
            assertThat(none.detail()).contains("cuInit answered 100 (CUDA_ERROR_NO_DEVICE");
        });
    }
}
