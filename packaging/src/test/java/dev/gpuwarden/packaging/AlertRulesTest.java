package dev.gpuwarden.packaging;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/** The shipped alert rules: promtool runs their tests, and each metric of an alert is exported. */
class AlertRulesTest {

    private static final Path REPOSITORY = Path.of(System.getProperty("gpuwarden.repository"));
    private static final Path RULES = REPOSITORY.resolve("packaging/src/main/prometheus");
    private static final Path TESTS = REPOSITORY.resolve("packaging/src/test/prometheus");
    private static final List<String> NAMES = List.of("gpuwarden", "gpuwarden-aggregator");
    private static final Path GOLDEN = REPOSITORY.resolve("daemon/src/test/resources/golden/metrics");
    private static final Path FAMILIES =
            REPOSITORY.resolve("daemon/src/main/resources/dev/gpuwarden/daemon/metrics/families.tsv");
    private static final Path AGGREGATOR = REPOSITORY.resolve("aggregator/src/main/java");

    private static final Pattern METRIC = Pattern.compile("\\b(?:gpuwarden|process|jvm|gpu)_[a-z0-9_]+");
    private static final Pattern TYPE = Pattern.compile("# TYPE (\\S+) ");
    private static final Pattern SNAPSHOT =
            Pattern.compile("(gauge|counter|seconds)\\(\\s*\"(gpuwarden_aggregator_\\w+)\"");

    @Tag("programs")
    @ParameterizedTest
    @CsvSource({
        "check, gpuwarden", "check, gpuwarden-aggregator",
        "test, gpuwarden", "test, gpuwarden-aggregator"
    })
    void promtoolAcceptsRulesAndTheirTests(String command, String name) throws Exception {
        Path promtool = Path.of(System.getProperty("gpuwarden.tools.dir", ""), "bin/promtool");
        assumeTrue(
                Files.isExecutable(promtool),
                () -> "no promtool at " + promtool.toAbsolutePath()
                        + ": ./gpuwarden test gets it, and names the folder of tools in -Dgpuwarden.tools.dir");
        Process run = new ProcessBuilder(
                        promtool.toString(),
                        command,
                        "rules",
                        (command.equals("check") ? rules(name) : tests(name)).toString())
                .redirectErrorStream(true)
                .start();
        String said = new String(run.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(run.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(run.exitValue()).as(said).isZero();
    }

    @Test
    void everyMetricOfTheRulesIsExported() throws IOException {
        Set<String> exported = exported();
        rules().forEach((alert, rule) -> assertThat(exported).as(alert).containsAll(metrics(text(rule, "expr"))));
    }

    @Test
    void everyAlertHasASeverityAndARunbook() throws IOException {
        rules().forEach((alert, rule) -> {
            assertThat(text(map(rule, "labels"), "severity")).as(alert).isIn("critical", "warning", "info");
            for (String annotation : List.of("summary", "description", "runbook")) {
                assertThat(text(map(rule, "annotations"), annotation))
                        .as(alert + " " + annotation)
                        .isNotBlank()
                        .hasLineCount(1);
            }
            // promtool tests the texts too: a label that the rule lacks would leave a gap in them.
            assertThat(text(map(rule, "annotations"), "description"))
                    .as(alert)
                    .endsWith(".")
                    .doesNotContain(". ");
        });
    }

    @Test
    void everyAlertIsTestedBothFiringAndSilent() throws IOException {
        Map<String, Map<?, ?>> tests = new TreeMap<>();
        for (String name : NAMES) {
            for (Object each : list(load(tests(name)), "tests")) {
                tests.put(text((Map<?, ?>) each, "name"), (Map<?, ?>) each);
            }
        }
        Map<String, Map<?, ?>> rules = rules();
        assertThat(tests.keySet()).isEqualTo(rules.keySet());
        tests.forEach((alert, test) -> {
            String expected = list(test, "promql_expr_test").toString();
            // The alert is for one node, or for all replicas of an aggregator.
            String who = expected.contains("job=") ? "job" : "instance";
            assertThat(expected).contains("alertname=\"" + alert + "\", " + who + "=\"bad\"");
            assertThat(expected).doesNotContain("\"good\"");
            List<String> series = list(test, "input_series").stream()
                    .map(each -> text((Map<?, ?>) each, "series"))
                    .toList();
            for (String each : List.of("bad", "good")) {
                assertThat(series).as(alert).anyMatch(one -> one.contains(who + "=\"" + each + "\""));
            }
            Set<String> given = new TreeSet<>();
            series.forEach(each -> given.addAll(metrics(each)));
            assertThat(given).as(alert).containsAll(metrics(text(rules.get(alert), "expr")));
        });
    }

    /** Returns the metrics in the expositions that tests store, and those in the table of families. */
    private static Set<String> exported() throws IOException {
        Set<String> names = new TreeSet<>();
        try (Stream<Path> files = Files.list(GOLDEN)) {
            for (Path file : files.toList()) {
                Matcher type = TYPE.matcher(Files.readString(file));
                while (type.find()) {
                    names.add(type.group(1));
                }
            }
        }
        for (String line : Files.readAllLines(FAMILIES)) {
            if (!line.startsWith("#")) {
                String[] cells = line.split("\t", -1);
                names.add(cells[1] + (cells[0].equals("counter") ? "_total" : ""));
            }
        }
        try (Stream<Path> files = Files.walk(AGGREGATOR)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                Matcher snapshot = SNAPSHOT.matcher(Files.readString(file));
                while (snapshot.find()) {
                    names.add(snapshot.group(2) + (snapshot.group(1).equals("counter") ? "_total" : ""));
                }
            }
        }
        return names;
    }

    private static Path rules(String name) {
        return RULES.resolve(name + ".rules.yaml");
    }

    private static Path tests(String name) {
        return TESTS.resolve(name + ".rules.test.yaml");
    }

    private static Set<String> metrics(String text) {
        Set<String> names = new TreeSet<>();
        Matcher metric = METRIC.matcher(text.replaceAll("\\{[^}]*}", " "));
        while (metric.find()) {
            names.add(metric.group());
        }
        return names;
    }

    private static Map<String, Map<?, ?>> rules() throws IOException {
        Map<String, Map<?, ?>> rules = new TreeMap<>();
        for (String name : NAMES) {
            for (Object group : list(load(rules(name)), "groups")) {
                for (Object rule : list((Map<?, ?>) group, "rules")) {
                    assertThat(rules.put(text((Map<?, ?>) rule, "alert"), (Map<?, ?>) rule))
                            .isNull();
                }
            }
        }
        assertThat(rules).isNotEmpty();
        return rules;
    }

    private static Map<?, ?> load(Path file) throws IOException {
        return (Map<?, ?>) new Load(LoadSettings.builder().build()).loadFromString(Files.readString(file));
    }

    private static List<?> list(Map<?, ?> map, String key) {
        return new ArrayList<>((List<?>) map.get(key));
    }

    private static Map<?, ?> map(Map<?, ?> map, String key) {
        return (Map<?, ?>) map.get(key);
    }

    private static String text(Map<?, ?> map, String key) {
        return String.valueOf(map.get(key));
    }
}
