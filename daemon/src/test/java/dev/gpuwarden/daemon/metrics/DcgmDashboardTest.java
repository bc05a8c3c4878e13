package dev.gpuwarden.daemon.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.checks.NodeFixture;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.NodeSnapshot;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Checks that no panel of dcgm-exporter's own dashboard stays empty: each selector of each expression finds a series of
 * each GPU.
 */
class DcgmDashboardTest {

    private static final int GPUS = 2;
    private static final Pattern SELECTOR = Pattern.compile("(DCGM_\\w+)(?:\\{([^}]*)})?");
    private static final Pattern MATCHER = Pattern.compile("(\\w+)=~\"\\$(\\w+)\"");
    private static final Pattern BY = Pattern.compile("by \\(([^)]*)\\)");
    private static final Pattern LABEL_VALUES = Pattern.compile("label_values\\(.*, (\\w+)\\)");
    private static final Pattern SERIES = Pattern.compile("(\\w+)\\{(.*)} \\S+");
    private static final Pattern LABEL = Pattern.compile("(\\w+)=\"([^\"]*)\"");
    /** dcgm-exporter calls it UUID, and its dashboard both; partitions have the other two. */
    private static final List<String> NOT_ALWAYS = List.of("uuid", "GPU_I_ID", "GPU_I_PROFILE");

    private record Series(String name, Map<String, String> labels) {}

    static List<String> expressions() throws IOException {
        try (var in = DcgmDashboardTest.class.getResourceAsStream("/dcgm-exporter/dashboard-12239.tsv")) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .filter(line -> !line.startsWith("#"))
                    .toList();
        }
    }

    private static List<Series> exposed() {
        NodeSnapshot node = NodeFixture.node(GPUS);
        DcgmCollector dcgm =
                new DcgmCollector(() -> "node-7", () -> Reading.of(Map.of()), () -> Reading.absent(Absence.NO_DATA));
        List<Series> all = new ArrayList<>();
        for (String line : Lines.of(Scrapes.scrape(node), dcgm.collector())) {
            Matcher series = SERIES.matcher(line);
            if (series.matches()) {
                Map<String, String> labels = LABEL.matcher(series.group(2))
                        .results()
                        .collect(Collectors.toMap(label -> label.group(1), label -> label.group(2)));
                all.add(new Series(series.group(1), labels));
            }
        }
        return all;
    }

    @ParameterizedTest
    @MethodSource("expressions")
    void everyPanelFindsItsSeries(String row) {
        String expression = row.split("\t")[1];
        Matcher selector = SELECTOR.matcher(expression);
        int found = 0;
        while (selector.find()) {
            found++;
            List<String> needed = new ArrayList<>();
            if (selector.group(2) != null) {
                MATCHER.matcher(selector.group(2)).results().forEach(label -> needed.add(label.group(1)));
            }
            BY.matcher(expression)
                    .results()
                    .forEach(by -> needed.addAll(List.of(by.group(1).split(", "))));
            LABEL_VALUES.matcher(expression).results().forEach(values -> needed.add(values.group(1)));
            needed.removeAll(NOT_ALWAYS);
            String name = selector.group(1);
            assertThat(exposed())
                    .filteredOn(series -> series.name.equals(name)
                            && needed.stream()
                                    .allMatch(label -> !series.labels
                                            .getOrDefault(label, "")
                                            .isEmpty()))
                    .as(row)
                    .hasSize(GPUS);
        }
        assertThat(found).as("selectors in " + row).isPositive();
    }
}
