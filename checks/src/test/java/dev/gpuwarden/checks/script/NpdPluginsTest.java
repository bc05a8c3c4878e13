package dev.gpuwarden.checks.script;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.checks.CheckContexts;
import dev.gpuwarden.checks.child.Programs;
import dev.gpuwarden.checks.node.NodePaths;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.core.check.CheckContext;
import dev.gpuwarden.core.check.HealthCheck;
import dev.gpuwarden.core.check.Limits;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Outcome;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.node.NodeSnapshot.DriverState;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NpdPluginsTest {

    /** In the form of node-problem-detector 0.8.20, config/custom-plugin-monitor.json. */
    private static final String CLOCK = """
            {
              "plugin": "custom",
              "pluginConfig": {
                "invoke_interval": "45s",
                "timeout": "2s",
                "max_output_length": 20,
                "concurrency": 3,
                "enable_message_change_based_condition_update": false
              },
              "source": "clock-monitor",
              "metricsReporting": true,
              "conditions": [
                {"type": "ClockProblem", "reason": "ClockIsRight", "message": "the clock is right"}
              ],
              "rules": [
                {"type": "permanent", "condition": "ClockProblem", "reason": "ClockIsWrong",
                 "path": "./config/plugin/clock.sh", "args": ["--max", "3"], "timeout": "1s"},
                {"type": "permanent", "condition": "ClockProblem", "reason": "NoClock",
                 "path": "./config/plugin/exists.sh"},
                {"type": "temporary", "reason": "ClockJumped", "path": "./config/plugin/jump.sh"}
              ]
            }
            """;

    @TempDir
    Path folder;

    private CheckContext context() {
        NodeSnapshot node = new NodeSnapshot(new DriverState.Opening(), Reading.of(List.of()), List.of());
        return CheckContexts.context(node, NodePaths.of(folder, folder, folder), Limits.NONE);
    }

    private List<HealthCheck> load(String json) {
        Path file = Programs.file(folder.resolve("config/clock-monitor.json"), "rw-r--r--", json);
        return NpdPluginCheck.load(file, new HashSet<>(Set.of("driver")), new ChildSlots());
    }

    private void plugin(String name, String... lines) {
        Programs.script(folder.resolve("config/plugin").resolve(name), lines);
    }

    private Finding run(HealthCheck check) {
        List<Finding> findings = check.run(context());
        assertThat(findings).hasSize(1);
        return findings.get(0);
    }

    @Test
    void conditionsAndTemporaryProblemsBecomeChecks() {
        List<HealthCheck> checks = load(CLOCK);
        assertThat(checks).extracting(check -> check.info().eventName()).containsExactly("ClockProblem", "ClockJumped");
        assertThat(checks).allSatisfy(check -> assertThat(check.info().every()).isEqualTo(Duration.ofSeconds(45)));
    }

    @Test
    void healthyTextComesFromTheFile() {
        plugin("clock.sh", "[ \"$1 $2\" = '--max 3' ] && echo fine");
        plugin("exists.sh", "exit 0");
        Finding finding = run(load(CLOCK).get(0));
        assertThat(finding.outcome()).isEqualTo(Outcome.PASS);
        assertThat(finding.code()).isEqualTo("ClockIsRight");
        assertThat(finding.message()).isEqualTo("the clock is right");
    }

    @Test
    void permanentProblemOutranksAHealthyRule() {
        plugin("clock.sh", "echo 'the clock is 7 minutes late'; echo detail >&2; exit 1");
        plugin("exists.sh", "exit 0");
        Finding finding = run(load(CLOCK).get(0));
        assertThat(finding.outcome()).isEqualTo(Outcome.FAIL);
        assertThat(finding.code()).isEqualTo("ClockIsWrong");
        assertThat(finding.message()).as("cut at max_output_length").isEqualTo("the clock is 7 minut");
        assertThat(finding.action()).isEqualTo(RecommendedAction.CONTACT_SUPPORT);
    }

    @Test
    void temporaryProblemIsNoFault() {
        plugin("jump.sh", "exit 1");
        Finding finding = run(load(CLOCK).get(1));
        assertThat(finding.outcome()).isEqualTo(Outcome.WARN);
        assertThat(finding.code()).isEqualTo("ClockJumped");
    }

    @ParameterizedTest
    @CsvSource({
        "exit 2, which means undecided",
        "exit 200, ended with exit code 200",
        "sleep 1000, 'did not end within 1s, and was cut off'",
        "yes, 'wrote more than 64 KiB, and was cut off'"
    })
    void undecidedPluginIsUnknown(String line, String message) {
        plugin("clock.sh", "exec " + line.replace("exec exit", "exit"));
        if (line.startsWith("exit")) {
            plugin("clock.sh", line);
        }
        plugin("exists.sh", "exit 0");
        Finding finding = run(load(CLOCK).get(0));
        assertThat(finding.outcome()).isEqualTo(Outcome.UNKNOWN);
        assertThat(finding.message()).contains(message);
    }

    @Test
    void missingPluginIsUnknown() {
        Finding finding = run(load(CLOCK).get(0));
        assertThat(finding.outcome()).isEqualTo(Outcome.UNKNOWN);
        assertThat(finding.message()).endsWith("/config/plugin/clock.sh does not exist; it does not run");
    }

    @Test
    void bareNameIsSearchedInPath() {
        List<HealthCheck> checks =
                load(CLOCK.replace("./config/plugin/clock.sh", "true").replace("./config/plugin/exists.sh", "true"));
        assertThat(run(checks.get(0)).outcome()).isEqualTo(Outcome.PASS);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "\"plugin\": \"custom\" | \"plugin\": \"kmsg\" | plugin: expected custom, found 'kmsg'",
                "\"45s\" | \"45\" | invoke_interval: expected a duration such as 30s, found '45'",
                "\"timeout\": \"1s\" | \"timeout\": \"3s\" | a rule's timeout is longer than that of pluginConfig",
                "\"permanent\", \"condition\": \"ClockProblem\", \"reason\": \"NoClock\" | \"permanent\", \"condition\": \"X\", \"reason\": \"NoClock\" | a rule's condition X is not among the conditions",
                "\"temporary\" | \"rare\" | a rule's type: expected temporary or permanent, found 'rare'",
                "\"ClockJumped\" | \"driver\" | another check has the ID driver already",
                "\"source\": \"clock-monitor\", | '' | source: expected a name, found ''",
                "\"metricsReporting\": true, | \"metricsReporting\": true | Unexpected character",
            })
    void invalidFileIsAUserError(String from, String to, String message) {
        assertThat(CLOCK).contains(from);
        assertThatThrownBy(() -> load(CLOCK.replace(from, to)))
                .isInstanceOf(UserError.class)
                .hasMessageStartingWith(folder + "/config/clock-monitor.json: ")
                .hasMessageContaining(message);
    }

    @Test
    void missingFileIsAUserError() {
        assertThatThrownBy(() -> NpdPluginCheck.load(folder.resolve("x.json"), new HashSet<>(), new ChildSlots()))
                .isInstanceOf(UserError.class)
                .hasMessage(folder.resolve("x.json") + ": no such file");
    }
}
