package dev.gpuwarden.nat.nvml;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.nat.audit.CompiledHeader;
import dev.gpuwarden.nat.audit.MirrorAudit;
import dev.gpuwarden.nat.sim.SimNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The mirror against NVIDIA's own nvml.h of three CUDA generations, statement by statement of the layout audit. Each difference
 * is in header-differences.tsv with its reason; a row that is no longer true is as wrong as one that is missing.
 */
@Tag("programs")
class NvidiaHeadersTest {

    private static final Path AUDIT = Path.of(System.getProperty("gpuwarden.repository"), "native/src/audit");

    @TempDir
    Path folder;

    @Test
    void cuda11() throws IOException, InterruptedException {
        compare("11.8.86");
    }

    @Test
    void cuda12() throws IOException, InterruptedException {
        compare("12.9.79");
    }

    @Test
    void cuda13() throws IOException, InterruptedException {
        compare("13.5.37");
    }

    private void compare(String release) throws IOException, InterruptedException {
        Path header = header(release);
        Map<String, String> ours = ours();
        Map<String, String> theirs = layouts(new CompiledHeader(header, List.of(), folder)
                .output(ours.keySet().stream().map(NvidiaHeadersTest::statement).toList()));
        Set<String> seen = new TreeSet<>();
        ours.forEach((subject, layout) -> {
            String other = theirs.getOrDefault(subject, "absent");
            boolean told =
                    other.equals("absent") && !theirs.containsKey(struct(subject)) && !subject.equals(struct(subject));
            if (!other.equals(layout) && !told) {
                seen.add(subject + "\t" + other);
            }
        });
        assertThat(ours).hasSizeGreaterThan(400);
        assertThat(theirs).as("what %s has of it", header).hasSizeGreaterThan(150);
        assertThat(seen)
                .as("differences from nvml.h %s, against those that header-differences.tsv lists", release)
                .isEqualTo(listed(release));
    }

    /** The struct that a field or a version word belongs to: of one that is absent, only the struct is a difference. */
    private static String struct(String subject) {
        return subject.startsWith("version ")
                ? subject.substring("version ".length()) + "_t"
                : subject.replaceAll("\\..*", "");
    }

    private static Path header(String release) throws IOException {
        assertThat(Files.readAllLines(AUDIT.resolve("nvml-headers.txt")))
                .anyMatch(line -> line.contains("==" + release + " "));
        return MirrorAudit.tool("nvml/" + release + "/nvml.h");
    }

    /** "nvmlMemory_t", "nvmlMemory_t.total" and "version nvmlMemory_v2", with what the compiler makes of the mirror. */
    private static Map<String, String> ours() throws IOException {
        return layouts(Files.readString(SimNode.built().resolve("layout-audit.tsv")));
    }

    private static Map<String, String> layouts(String rows) {
        Map<String, String> layouts = new LinkedHashMap<>();
        for (String row : rows.split("\n")) {
            String[] c = row.split("\t");
            if (c[0].equals("version")) {
                layouts.put("version " + c[1], c[2]);
            } else {
                layouts.put(c[1].equals("-") ? c[0] : c[0] + "." + c[1], "offset " + c[2] + ", size " + c[3]);
            }
        }
        return layouts;
    }

    private static String statement(String subject) {
        if (subject.startsWith("version ")) {
            String name = subject.substring("version ".length());
            return "printf(\"version\\t" + name + "\\t0x%08x\\n\", (unsigned)" + name + ");";
        }
        String[] parts = subject.split("\\.");
        return parts.length == 1
                ? "printf(\"" + subject + "\\t-\\t0\\t%zu\\n\", sizeof(" + subject + "));"
                : "printf(\"" + parts[0] + "\\t" + parts[1] + "\\t%zu\\t%zu\\n\", offsetof(" + parts[0] + ", "
                        + parts[1] + "), sizeof(((" + parts[0] + " *)0)->" + parts[1] + "));";
    }

    private static Set<String> listed(String release) throws IOException {
        return Files.readAllLines(AUDIT.resolve("header-differences.tsv")).stream()
                .filter(line -> !line.startsWith("#"))
                .map(line -> line.split("\t"))
                .peek(c -> assertThat(c).as(String.join(" ", c)).hasSize(4).doesNotContain(""))
                .filter(c -> Arrays.stream(c[0].split(" ")).anyMatch(r -> release.startsWith(r + ".")))
                .map(c -> c[1] + "\t" + c[2])
                .collect(Collectors.toCollection(TreeSet::new));
    }
}
