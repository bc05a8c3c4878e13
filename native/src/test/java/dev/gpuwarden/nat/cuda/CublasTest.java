package dev.gpuwarden.nat.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.compute.ExpectedProduct;
import dev.gpuwarden.core.compute.ProductKind;
import dev.gpuwarden.core.compute.ProductResult;
import dev.gpuwarden.core.compute.ProductResult.Producer;
import dev.gpuwarden.core.compute.ProductWork;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.port.ComputeDriver;
import dev.gpuwarden.core.port.DriverOptions;
import dev.gpuwarden.core.port.DriverOptions.SamplerPath;
import dev.gpuwarden.core.port.Opening.Opened;
import dev.gpuwarden.nat.sim.SimNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Products by a library that is there, that fails, and that is none. */
class CublasTest {

    private static final ProductWork WORK =
            new ProductWork(ProductKind.FP64, 128, 2, 5, Duration.ofSeconds(20)).withLibrary();

    @TempDir
    Path folder;

    private SimNode node;

    @BeforeEach
    void start() {
        node = SimNode.of("550", folder);
    }

    private ComputeDriver driver(Path library) {
        DriverOptions options =
                new DriverOptions(List.of(folder.toString()), SamplerPath.AUTO, false, List.of(library.toString()));
        return ((Opened<ComputeDriver>) new CudaProvider().open(options)).driver();
    }

    private Path library() throws IOException {
        return Files.copy(SimNode.built().resolve("sim/libcublas.so.12"), folder.resolve("libcublas.so.12"));
    }

    private static ProductResult product(ComputeDriver driver, ProductWork work) {
        Reading<ProductResult> reading =
                driver.measureProducts(driver.gpus(), work, () -> false).get(1);
        return reading.asOptional().orElseThrow(() -> new AssertionError(reading));
    }

    @Test
    void productsAreThoseOfTheOwnKernel() throws IOException {
        Path file = library();
        ComputeDriver driver = driver(folder);
        assertThat(driver.matrixLibrary()).isEqualTo(Reading.of(file + ", version 12.9.1"));
        ProductResult result = product(driver, WORK);
        assertThat(result.producer()).isEqualTo(new Producer("cuBLAS 12.9.1", Optional.empty()));
        assertThat(result.verification().isRight()).isTrue();
        assertThat(result.rounds())
                .hasSize(2)
                .extracting(ProductResult.Round::digest)
                .containsOnly(ExpectedProduct.digest(ProductKind.FP64, 128, 5));
    }

    /** The library does not record SMs, so a wrong element of it has none. */
    @Test
    void aWrongElementIsFoundWithoutItsSm() throws IOException {
        library();
        node.set("gpu[1].cores", 16896)
                .set("gpu[1].wrong_pattern", "WRONG_BIT")
                .set("gpu[1].wrong_kernel", "dgemm")
                .set("gpu[1].wrong_sm", 3);
        ProductResult result = product(driver(folder), WORK);
        assertThat(result.producer().name()).startsWith("cuBLAS");
        assertThat(result.verification().wrong()).as(result.toString()).isPositive();
        assertThat(result.verification().worstSm()).isEmpty();
    }

    @Test
    void withAnOlderDriverTheOwnKernelComputes() throws IOException {
        Path file = library();
        node.set("header.cuda_version", 11080);
        ProductResult result = product(driver(file), WORK);
        assertThat(result.producer().name()).isEqualTo("own kernel");
        assertThat(result.producer().why())
                .hasValueSatisfying(why -> assertThat(why)
                        .contains("cublasCreate_v2 of " + file + " answered 1 (CUBLAS_STATUS_NOT_INITIALIZED"));
        assertThat(result.verification().isRight()).isTrue();
    }

    @Test
    void anotherLibraryIsNamedWithWhatItLacks() {
        Path other = folder.resolve("libnccl.so.2");
        ComputeDriver driver = driver(other);
        ProductResult result = product(driver, WORK);
        assertThat(result.producer().why())
                .hasValueSatisfying(why ->
                        assertThat(why).contains(other + " is no usable cuBLAS", "cublasDgemm_v2", "pip install"));
        assertThat(driver.matrixLibrary().asOptional()).isEmpty();
    }

    @Test
    void gpusAreComparedByTheOwnKernel() throws IOException {
        library();
        ProductWork own = new ProductWork(ProductKind.FP64, 128, 1, 5, Duration.ofSeconds(20));
        assertThat(product(driver(folder), own).producer()).isEqualTo(new Producer("own kernel", Optional.empty()));
    }
}
