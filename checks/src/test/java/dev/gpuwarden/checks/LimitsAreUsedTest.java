package dev.gpuwarden.checks;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.check.BoardLimits;
import dev.gpuwarden.core.check.HealthCheck;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.ServiceLoader;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Checks that every row of the limits is used. {@link BoardLimits} ensures the other direction: a name that a check
 * requests has a row.
 */
class LimitsAreUsedTest {

    @Test
    void everyRowOfTheTableIsReadByACheck() throws IOException, URISyntaxException {
        String classes = classes();
        assertThat(BoardLimits.shipped().names())
                .isNotEmpty()
                .allSatisfy(name -> assertThat(classes).contains(name));
    }

    @Test
    void everyRowHasASource() {
        assertThat(BoardLimits.shipped().rows())
                .allSatisfy(row -> assertThat(row.source()).matches("limits\\.tsv:\\d+, .{5,}"));
    }

    /** Returns the compiled checks, which contain the names of limits as texts or as names of constants. */
    private static String classes() throws IOException, URISyntaxException {
        List<Path> roots = ServiceLoader.load(HealthCheck.class).stream()
                .map(provider -> folder(provider.type()))
                .distinct()
                .toList();
        StringBuilder all = new StringBuilder();
        for (Path root : roots) {
            try (Stream<Path> files = Files.list(root)) {
                for (Path file :
                        files.filter(f -> f.toString().endsWith(".class")).collect(Collectors.toList())) {
                    all.append(new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1));
                }
            }
        }
        return all.toString().toLowerCase(Locale.ROOT);
    }

    private static Path folder(Class<?> check) {
        try {
            Path classes = Path.of(
                    check.getProtectionDomain().getCodeSource().getLocation().toURI());
            return classes.resolve(check.getPackageName().replace('.', '/'));
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }
}
