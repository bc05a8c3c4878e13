package dev.gpuwarden.nat.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.port.ComputeDriver;
import dev.gpuwarden.nat.audit.CompiledHeader;
import dev.gpuwarden.nat.audit.MirrorAudit;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The mirror of CUDA and the binding against NVIDIA's own cuda.h of three generations. */
@Tag("programs")
class CudaHeadersTest {

    /** An enumerator of CUresult with the comment before it. */
    private static final Pattern RESULT =
            Pattern.compile("/\\*\\*((?:(?!\\*/).)*)\\*/\\s*CUDA_ERROR_\\w+\\s*=\\s*(\\d+)", Pattern.DOTALL);

    private static final Pattern STAYS = Pattern.compile("terminated and relaunched|must be destroyed");

    @TempDir
    Path folder;

    @Test
    void cuda11() throws IOException, InterruptedException {
        compare("nvidia-cuda-runtime-cu11/", "11.8");
    }

    @Test
    void cuda12() throws IOException, InterruptedException {
        compare("nvidia-cuda-runtime-cu12/", "12.9");
    }

    @Test
    void cuda13() throws IOException, InterruptedException {
        compare("nvidia-cuda-runtime/", "13.5");
    }

    private static Path header(String name) throws IOException {
        return MirrorAudit.packages("src/audit/cuda-headers.txt").stream()
                .filter(found -> found.startsWith(name))
                .map(found -> MirrorAudit.tool("cuda/" + found + "/cuda.h"))
                .findFirst()
                .orElseThrow();
    }

    private void compare(String name, String release) throws IOException, InterruptedException {
        CompiledHeader header = new CompiledHeader(header(name), List.of(), folder);
        Map<String, String> bound = Stream.of(CudaSymbol.values())
                .collect(Collectors.toMap(CudaSymbol::symbol, symbol -> symbol.signature() + ":4"));
        new MirrorAudit("cuda_mirror.h", folder).compare(header, "cuda-" + release, bound);
        Map<String, String> constants = Stream.of(CudaConstant.values())
                .collect(Collectors.toMap(CudaConstant::name, constant -> String.valueOf(constant.number())));
        assertThat(header.numbers(constants.keySet())).isEqualTo(constants);
    }

    /** The header has a sentence on each result after which a process has to be started again. ECC and NVLink are published elsewhere. */
    @Test
    void errorsThatStayAreThoseOfTheHeader() throws IOException {
        String text = Files.readString(header("nvidia-cuda-runtime/"));
        String results = text.substring(text.indexOf("enum cudaError_enum"), text.indexOf("} CUresult;"));
        Set<Integer> stated = RESULT.matcher(results)
                .results()
                .filter(result -> STAYS.matcher(result.group(1).replaceAll("[\\s*]+", " "))
                        .find())
                .map(result -> Integer.valueOf(result.group(2)))
                .collect(Collectors.toCollection(TreeSet::new));
        stated.addAll(List.of(214, 220));
        assertThat(IntStream.range(0, 1000).filter(ComputeDriver::poisons).boxed())
                .containsExactlyElementsOf(stated);
    }

    /** A name that a later header maps to another one has an older interface behind it. compute-differences.tsv has the exception. */
    @Test
    void everyFunctionIsCalledByItsCurrentName() throws IOException, InterruptedException {
        List<String> statements = Stream.of(CudaSymbol.values())
                .map(symbol -> symbol.symbol().replaceFirst("_v\\d$", ""))
                .map(plain -> "printf(\"%s\\n\", NAME(" + plain + "));")
                .toList();
        Path naming = Files.writeString(
                folder.resolve("naming.h"),
                "#include \"" + header("nvidia-cuda-runtime/") + "\"\n"
                        + "#define TEXT(name) #name\n#define NAME(name) TEXT(name)\n");
        assertThat(new CompiledHeader(naming, List.of(), folder)
                        .output(statements)
                        .lines())
                .containsExactlyElementsOf(Stream.of(CudaSymbol.values())
                        .map(CudaSymbol::symbol)
                        .map(name -> name.replaceFirst("^cuEventElapsedTime$", "$0_v2"))
                        .toList());
    }
}
