package dev.gpuwarden.nat.nccl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.core.port.AbortSignal;
import dev.gpuwarden.core.port.CollectiveDriver;
import dev.gpuwarden.core.port.CollectiveDriver.Member;
import dev.gpuwarden.core.port.CollectiveException;
import dev.gpuwarden.core.port.CollectiveException.Kind;
import dev.gpuwarden.nat.lib.SharedLibrary;
import dev.gpuwarden.nat.lib.SharedLibrary.Loading;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The binding on NVIDIA's own library, as far as it works without a GPU. */
@Tag("programs")
class RealNcclTest {

    private static final Path WHEELS =
            Path.of(System.getProperty("gpuwarden.repository"), "native/src/build/nccl-wheels.txt");

    private static NcclLibrary library;

    @BeforeAll
    static void load() throws IOException {
        String[] wheel = Files.readAllLines(WHEELS).stream()
                .filter(line -> !line.startsWith("#"))
                .findFirst()
                .orElseThrow()
                .split(" ");
        Path file = Path.of(
                System.getProperty("gpuwarden.tools.dir", ""), "nccl", wheel[0].replace("==", "/"), "libnccl.so.2");
        Assumptions.assumeTrue(
                Files.exists(file),
                () -> "no " + file
                        + ": ./gpuwarden test gets it, and names the folder of tools in -Dgpuwarden.tools.dir");
        Loading loading = SharedLibrary.load(file.toString());
        assertThat(loading).isInstanceOf(Loading.Loaded.class);
        library = new NcclLibrary(((Loading.Loaded) loading).library());
    }

    @Test
    void itHasTheFunctionsOfItsVersion() throws CollectiveException {
        assertThat(NcclSymbol.values()).filteredOn(NcclSymbol::isRequired).allMatch(library::has);
        assertThat(NcclSymbol.values())
                .filteredOn(symbol -> !library.has(symbol))
                .as("functions of 2.27")
                .containsExactly(NcclSymbol.WINDOW_REGISTER, NcclSymbol.WINDOW_DEREGISTER);
        assertThat(library.version()).isEqualTo(22105);
    }

    @Test
    void everyUniqueIdIsDifferent() throws CollectiveException {
        byte[] one = NcclDriver.uniqueId(library);
        assertThat(one).hasSize(CollectiveDriver.UNIQUE_ID_BYTES).isNotEqualTo(NcclDriver.uniqueId(library));
        assertThat(one).isNotEqualTo(new byte[CollectiveDriver.UNIQUE_ID_BYTES]);
    }

    /** Without a driver the library goes no further than to its first call of CUDA. */
    @Test
    void joiningWithoutADriverFailsInCuda() throws CollectiveException {
        Member member =
                new Member(0, 1, 2, NcclDriver.uniqueId(library), Duration.ofSeconds(20), false, new AbortSignal());
        assertThatThrownBy(() -> NcclComm.join(library, member))
                .isInstanceOfSatisfying(CollectiveException.class, failure -> {
                    assertThat(failure.kind()).isEqualTo(Kind.COLLECTIVES);
                    assertThat(failure.code()).isEqualTo(1);
                    assertThat(failure.getMessage()).contains("unhandled cuda error", "NCCL: ");
                });
    }
}
