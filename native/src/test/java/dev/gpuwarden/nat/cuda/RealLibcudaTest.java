package dev.gpuwarden.nat.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.port.ComputeDriver;
import dev.gpuwarden.core.port.DriverOptions;
import dev.gpuwarden.core.port.DriverOptions.SamplerPath;
import dev.gpuwarden.core.port.Opening;
import dev.gpuwarden.core.port.Opening.Reason;
import dev.gpuwarden.core.port.Opening.Unavailable;
import dev.gpuwarden.nat.audit.MirrorAudit;
import dev.gpuwarden.nat.lib.NativeMemory;
import dev.gpuwarden.nat.lib.SharedLibrary;
import dev.gpuwarden.nat.lib.SharedLibrary.Loading;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The binding on NVIDIA's own libcuda of driver 535, as far as it works without a driver in the kernel. */
@Tag("programs")
class RealLibcudaTest {

    private Path file;
    private SharedLibrary shared;

    @BeforeEach
    void load() {
        file = MirrorAudit.tool("cuda/driver/libcuda.so.1");
        Loading loading = SharedLibrary.load(file.toString());
        assertThat(loading).isInstanceOf(Loading.Loaded.class);
        shared = ((Loading.Loaded) loading).library();
    }

    @Test
    void itHasEveryFunctionAndReportsItsVersion() throws CudaException {
        CudaLibrary library = new CudaLibrary(shared);
        assertThat(CudaSymbol.values()).allMatch(library::has);
        try (NativeMemory out = NativeMemory.allocate(8)) {
            library.require(CudaSymbol.DRIVER_VERSION, out.address());
            assertThat(out.buffer().getInt(0)).isBetween(12000, 14000);
        }
        assertThat(library.describe(2)).contains("CUDA_ERROR_OUT_OF_MEMORY");
    }

    @Test
    void theSimulatedOneExportsNothingElse() throws IOException {
        Path symbols = Path.of(System.getProperty("gpuwarden.repository"), "native/src/sim/cuda/symbols.txt");
        List<String> names = Files.readAllLines(symbols).stream()
                .filter(line -> !line.startsWith("#") && !line.isBlank())
                .toList();
        assertThat(names).hasSizeGreaterThan(50).allMatch(name -> shared.symbol(name) != 0);
    }

    @Test
    void withoutADriverTheReasonIsThatOne() {
        DriverOptions options = new DriverOptions(List.of(file.getParent().toString()), SamplerPath.AUTO);
        Opening<ComputeDriver> opening = new CudaProvider().open(options);
        assertThat(opening).isInstanceOfSatisfying(Unavailable.class, why -> {
            assertThat(why.reason()).isEqualTo(Reason.DRIVER_NOT_LOADED);
            assertThat(why.code()).isEqualTo(100);
            assertThat(why.detail()).contains(file.toString(), "cuInit", "CUDA_ERROR_NO_DEVICE");
        });
    }
}
