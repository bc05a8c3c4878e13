package dev.gpuwarden.packaging;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Metrics as Markdown: the daemon's from the expositions that its tests keep, the aggregator's from its source. */
final class MetricsReference {

    private static final Pattern LABEL = Pattern.compile("([A-Za-z_]\\w*)=\"(?:[^\"\\\\]|\\\\.)*\"");
    private static final Pattern CALL = Pattern.compile("(gauge|counter|seconds)\\(\\s*\"(gpuwarden_\\w+)\"");

    private MetricsReference() {}

    private static final class Metric {
        private String type = "";
        private String help = "";
        private final Set<String> labels = new TreeSet<>();
    }

    static String text(Path repository) throws IOException {
        StringBuilder text = new StringBuilder("""
            # Metrics

            Units are base units: bytes, seconds, watts, joules, hertz, celsius, ratios from 0 to 1. A reading that a board or a
            driver does not have is absent, never 0; `gpuwarden_gpu_reading_absent` has the cause.

            ## Node daemon

            `DCGM_FI_*` need `--metrics.dcgm-names` ([dcgm-exporter.md](../migration/dcgm-exporter.md)), `autopilot_health_checks`
            needs `--metrics.autopilot`.

            | Metric | Type | Labels | Description |
            | --- | --- | --- | --- |
            """);
        Map<String, Metric> daemon = daemon(repository.resolve("daemon/src/test/resources/golden/metrics"));
        rows(daemon, true, text);
        text.append("""

            ## Aggregator

            Its process and its Java runtime have metrics of the same names as the daemon's. `curl --silent localhost:9402/metrics`
            shows the labels.

            | Metric | Type | Description |
            | --- | --- | --- |
            """);
        Map<String, Metric> aggregator = aggregator(repository.resolve("aggregator/src/main"));
        aggregator.keySet().removeAll(daemon.keySet());
        rows(aggregator, false, text);
        return text.toString();
    }

    private static void rows(Map<String, Metric> metrics, boolean labels, StringBuilder text) {
        metrics.forEach((name, metric) -> text.append("| `")
                .append(name)
                .append("` | ")
                .append(metric.type)
                .append(labels ? " | " + String.join(", ", metric.labels) : "")
                .append(" | ")
                .append(CommandReference.cell(metric.help))
                .append(" |\n"));
    }

    private static Map<String, Metric> daemon(Path golden) throws IOException {
        Map<String, Metric> metrics = new TreeMap<>();
        try (Stream<Path> files = Files.list(golden)) {
            for (Path file : files.sorted().toList()) {
                String current = "";
                for (String line : Files.readAllLines(file)) {
                    String[] words = line.split(" ", 4);
                    if (line.startsWith("# HELP ")) {
                        metrics.computeIfAbsent(words[2], name -> new Metric()).help = words.length > 3 ? words[3] : "";
                    } else if (line.startsWith("# TYPE ")) {
                        current = words[2];
                        metrics.computeIfAbsent(current, name -> new Metric()).type = words[3];
                    } else if (metrics.containsKey(current) && line.startsWith(current)) {
                        Matcher label = LABEL.matcher(line);
                        while (label.find()) {
                            metrics.get(current).labels.add(label.group(1));
                        }
                    }
                }
            }
        }
        return metrics;
    }

    private static Map<String, Metric> aggregator(Path sources) throws IOException {
        Map<String, Metric> metrics = new TreeMap<>();
        Properties help = new Properties();
        try (Stream<Path> files = Files.walk(sources.resolve("java"));
                Reader texts = Files.newBufferedReader(
                        sources.resolve("resources/dev/gpuwarden/aggregator/part/metrics.properties"))) {
            help.load(texts);
            for (Path file :
                    files.filter(each -> each.toString().endsWith(".java")).toList()) {
                Matcher call = CALL.matcher(Files.readString(file));
                while (call.find()) {
                    boolean counter = call.group(1).equals("counter");
                    Metric metric = new Metric();
                    metric.type = call.group(1).equals("seconds") ? "summary" : call.group(1);
                    metric.help = (String) Objects.requireNonNull(help.remove(call.group(2)), call.group(2));
                    metrics.put(call.group(2) + (counter ? "_total" : ""), metric);
                }
            }
        }
        assertThat(help.stringPropertyNames()).as("texts without a metric").isEmpty();
        return metrics;
    }
}
