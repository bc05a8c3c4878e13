package dev.gpuwarden.nat.nvml;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.nat.sim.SimNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Assumptions;
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
    private static final Pattern ERROR = Pattern.compile("^[^:\n]*:(\\d+):\\d+: error:", Pattern.MULTILINE);

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
        Map<String, String> theirs = theirs(header, List.copyOf(ours.keySet()));
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
        Path header = Path.of(System.getProperty("gpuwarden.tools.dir", ""), "nvml", release, "nvml.h");
        Assumptions.assumeTrue(
                Files.exists(header),
                () -> "no " + header
                        + ": ./gpuwarden test gets it, and names the folder of tools in -Dgpuwarden.tools.dir");
        return header;
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

    /** The same of a header. A function for each subject: those that it lacks do not compile, and are left out. */
    private Map<String, String> theirs(Path header, List<String> subjects) throws IOException, InterruptedException {
        List<String> lines = new ArrayList<>(List.of("#include <stddef.h>", "#include <stdio.h>", "#include <nvml.h>"));
        int first = lines.size();
        for (int i = 0; i < subjects.size(); i++) {
            lines.add("static void f" + i + "(void) { " + statement(subjects.get(i)) + " }");
        }
        String include = "-I" + header.getParent();
        Path source = folder.resolve("header.c");
        Files.write(source, lines);
        Set<Integer> unknown = ERROR.matcher(run("gcc", "-fsyntax-only", "-w", include, source.toString()))
                .results()
                .map(MatchResult::group)
                .map(error -> Integer.valueOf(error.split(":")[1]) - 1)
                .collect(Collectors.toSet());
        String calls = "";
        for (int line = first; line < first + subjects.size(); line++) {
            if (unknown.contains(line)) {
                lines.set(line, "");
            } else {
                calls += " f" + (line - first) + "();";
            }
        }
        lines.add("int main(void) {" + calls + " return 0; }");
        Files.write(source, lines);
        Path program = folder.resolve("header");
        assertThat(run("gcc", "-O0", "-w", include, source.toString(), "-o", program.toString()))
                .isEmpty();
        return layouts(run(program.toString()));
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

    private static String run(String... command) throws IOException, InterruptedException {
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().put("LC_ALL", "C");
        Process process = builder.start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        process.waitFor();
        return output;
    }
}
