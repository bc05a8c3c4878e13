package dev.gpuwarden.checks.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.check.HealthCheck;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Compares docs/reference/checks.md with the checks. */
class DocumentationTest {

    private static final Path DOCUMENT =
            Path.of(System.getProperty("gpuwarden.repository"), "docs/reference/checks.md");

    private static final Pattern CODE =
            Pattern.compile("(?:builder\\.(?:warn|fail|skip|unknown)\\(|new Slowdown\\(|new Low\\(\\s*(?:true|false),)"
                    + "\\s*\"([a-z0-9-]+)\"");
    private static final Pattern LIMIT =
            Pattern.compile("(?:builder\\s*\\.limit\\(|LinkMetric\\.[A-Z_]+, )\"([a-z0-9_]+)\"");

    @Test
    void everyCheckHasARow() throws IOException {
        List<String> lines = Files.readAllLines(DOCUMENT);
        for (HealthCheck check : GpuChecks.all()) {
            assertThat(lines)
                    .as(check.info().id())
                    .filteredOn(line -> line.startsWith("| `" + check.info().id() + "` |"))
                    .hasSize(1);
        }
    }

    @Test
    void everyCodeAndLimitIsDocumented() throws IOException {
        String document = Files.readString(DOCUMENT);
        String source = source();
        assertThat(found(CODE, source))
                .hasSizeGreaterThan(30)
                .allSatisfy(code -> assertThat(document).contains("`" + code + "`"));
        assertThat(found(LIMIT, source))
                .hasSizeGreaterThan(15)
                .allSatisfy(limit -> assertThat(document).contains("`" + limit + "`"));
    }

    private static TreeSet<String> found(Pattern pattern, String text) {
        TreeSet<String> all = new TreeSet<>();
        Matcher matcher = pattern.matcher(text);
        while (matcher.find()) {
            all.add(matcher.group(1));
        }
        return all;
    }

    private static String source() throws IOException {
        StringBuilder all = new StringBuilder();
        try (Stream<Path> files = Files.list(Path.of("src/main/java/dev/gpuwarden/checks/gpu"))) {
            for (Path file : files.toList()) {
                all.append(Files.readString(file, StandardCharsets.UTF_8));
            }
        }
        return all.toString();
    }
}
