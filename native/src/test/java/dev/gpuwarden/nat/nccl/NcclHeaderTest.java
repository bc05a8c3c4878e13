package dev.gpuwarden.nat.nccl;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.port.ElementType;
import dev.gpuwarden.core.port.ReduceOperator;
import dev.gpuwarden.nat.audit.CompiledHeader;
import dev.gpuwarden.nat.audit.MirrorAudit;
import dev.gpuwarden.nat.lib.NativeMemory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The mirror of NCCL and the binding against NVIDIA's own nccl.h. */
@Tag("programs")
class NcclHeaderTest {

    @TempDir
    Path folder;

    private CompiledHeader header;

    /** The header of 2.27, the first with windows and CTA policies. */
    private CompiledHeader later;

    /** The header includes CUDA's runtime for one type and for numbers of 16 bits in C++. */
    @BeforeEach
    void find() throws IOException {
        Files.writeString(
                folder.resolve("cuda_runtime.h"),
                "typedef struct CUstream_st *cudaStream_t;\n#define __CUDA_BF16_TYPES_EXIST__ 1\n");
        Files.createFile(folder.resolve("cuda_fp16.h"));
        header = header(0);
        later = header(1);
    }

    private CompiledHeader header(int number) throws IOException {
        Path nccl = MirrorAudit.tool(
                "nccl/" + MirrorAudit.packages("src/build/nccl-wheels.txt").get(number) + "/nccl.h");
        return new CompiledHeader(nccl, List.of(folder), folder);
    }

    @Test
    void mirrorAndBindingAreThoseOfTheHeader() throws IOException, InterruptedException {
        Map<String, String> bound = Stream.of(NcclSymbol.values())
                .collect(Collectors.toMap(
                        NcclSymbol::symbol,
                        symbol -> symbol.signature()
                                + (symbol == NcclSymbol.ERROR_STRING || symbol == NcclSymbol.LAST_ERROR
                                        ? ":8"
                                        : ":4")));
        new MirrorAudit("nccl_mirror.h", folder).compare(header, "nccl-2.21.5", bound);
    }

    @Test
    void ordinalsAreTheNumbersOfTheHeader() throws IOException, InterruptedException {
        Map<String, String> expected = new LinkedHashMap<>();
        for (ElementType type : ElementType.values()) {
            if (type.since() <= 22105) {
                String name =
                        type == ElementType.HALF ? "Float16" : type == ElementType.DOUBLE ? "Float64" : title(type);
                expected.put(
                        "nccl" + name.replace("Float", type == ElementType.FLOAT ? "Float32" : "Float"), ordinal(type));
            }
        }
        for (ReduceOperator operator : ReduceOperator.values()) {
            expected.put("nccl" + title(operator), ordinal(operator));
        }
        assertThat(header.numbers(expected.keySet())).isEqualTo(expected).hasSizeGreaterThan(14);
    }

    private static String title(Enum<?> value) {
        String name = value.name();
        return name.charAt(0) + name.substring(1).toLowerCase(java.util.Locale.ROOT);
    }

    private static String ordinal(Enum<?> value) {
        return String.valueOf(value.ordinal());
    }

    /** The configuration as the header initialises it, with the version of the form, and without blocking. */
    @Test
    void configurationHasTheBytesOfTheHeader() throws IOException, InterruptedException {
        String bytes = header.output(
                List.of(
                        "ncclConfig_t c = NCCL_CONFIG_INITIALIZER; c.version = NCCL_VERSION(2, 18, 0);"
                                + " c.blocking = 0; for (size_t i = 0; i < sizeof(c); i++) printf(\"%02x\", ((unsigned char *)&c)[i]);"));
        try (NativeMemory config = NcclConfig.nonBlocking(OptionalInt.empty())) {
            byte[] ours = new byte[config.size()];
            config.buffer().get(0, ours);
            // Padding at the end has no value.
            assertThat(HexFormat.of().formatHex(ours, 0, 44)).isEqualTo(bytes.substring(0, 88));
            assertThat(ours).hasSize(bytes.length() / 2);
        }
    }

    @Test
    void configurationWithAPolicyHasTheBytesOfTheLaterHeader() throws IOException, InterruptedException {
        String bytes = later.output(
                List.of("ncclConfig_t c = NCCL_CONFIG_INITIALIZER; c.version = NCCL_VERSION(2, 27, 0); c.blocking = 0;"
                        + " c.CTAPolicy = NCCL_CTA_POLICY_EFFICIENCY; for (size_t i = 0; i < sizeof(c); i++)"
                        + " printf(\"%02x\", ((unsigned char *)&c)[i]);"));
        try (NativeMemory config = NcclConfig.nonBlocking(OptionalInt.of(1))) {
            byte[] ours = new byte[config.size()];
            config.buffer().get(0, ours);
            assertThat(HexFormat.of().formatHex(ours)).isEqualTo(bytes);
        }
    }

    @Test
    void windowsAreThoseOfTheLaterHeader() throws IOException, InterruptedException {
        Map<String, String> bound = Stream.of(NcclSymbol.WINDOW_REGISTER, NcclSymbol.WINDOW_DEREGISTER)
                .collect(Collectors.toMap(NcclSymbol::symbol, symbol -> symbol.signature() + ":4"));
        assertThat(later.functions(bound.keySet())).isEqualTo(bound);
        String symmetric = "NCCL_WIN_COLL_SYMMETRIC";
        assertThat(later.numbers(List.of(symmetric)))
                .containsExactly(Map.entry(symmetric, String.valueOf(NcclCommunicator.SYMMETRIC)));
    }
}
