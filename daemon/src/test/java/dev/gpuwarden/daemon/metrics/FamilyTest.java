package dev.gpuwarden.daemon.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.prometheus.metrics.model.snapshots.Labels;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class FamilyTest {

    private static final Path DAEMON = Path.of(System.getProperty("gpuwarden.repository"), "daemon/src/main");
    private static final String PACKAGE = "dev/gpuwarden/daemon/metrics";
    private static final Pattern NAME =
            Pattern.compile("\"((?:gpuwarden|gpu|process|jvm|autopilot|DCGM_FI_DEV)_\\w+[a-zA-Z])\"");

    @Test
    void collectorsNameExactlyTheFamiliesOfTheTable() throws IOException {
        Set<String> named = new TreeSet<>();
        try (Stream<Path> files = Files.list(DAEMON.resolve("java").resolve(PACKAGE))) {
            for (Path file : files.toList()) {
                NAME.matcher(Files.readString(file))
                        .results()
                        .map(match -> match.group(1))
                        .forEach(named::add);
            }
        }
        List<String> table =
                Files.readAllLines(DAEMON.resolve("resources").resolve(PACKAGE).resolve("families.tsv")).stream()
                        .filter(line -> !line.startsWith("#"))
                        .map(line -> line.split("\t")[1])
                        .toList();
        assertThat(table).doesNotHaveDuplicates().containsExactlyInAnyOrderElementsOf(named);
    }

    @Test
    void aNameThatIsNotInTheTableIsRefused() {
        assertThatThrownBy(() -> new Family.Series().add("gpuwarden_other", Labels.EMPTY, 1))
                .hasMessage("gpuwarden_other is not in families.tsv");
    }
}
