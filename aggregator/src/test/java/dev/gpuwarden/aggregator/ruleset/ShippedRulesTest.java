package dev.gpuwarden.aggregator.ruleset;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.util.JsonTrees;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

class ShippedRulesTest {

    private static final RuleEvaluator RULES = RuleEvaluator.compile(shipped());
    private static final Map<String, Object> MANAGED = node(Map.of("nvsentinel.dgxc.nvidia.com/managed", "true"));

    private static List<QuarantineRuleSet> shipped() {
        Path file = Path.of(
                System.getProperty("gpuwarden.repository"), "packaging/src/main/kubernetes/quarantine-rules.yaml");
        List<QuarantineRuleSet> sets = new ArrayList<>();
        try {
            for (Object document : new Load(LoadSettings.builder().build()).loadAllFromString(Files.readString(file))) {
                sets.add(QuarantineRuleSet.of(JsonTrees.copy((Map<?, ?>) document)));
            }
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        return sets;
    }

    private static Map<String, Object> node(Map<String, String> labels) {
        return Map.of("metadata", Map.of("name", "node-1", "labels", labels));
    }

    @Test
    void allAreReadyExceptTheOneOfTheNodeItself() {
        assertThat(RULES.conditions())
                .hasSize(7)
                .allSatisfy(condition -> assertThat(condition.reason())
                        .as(condition.toString())
                        .isEqualTo(condition.ruleSet().equals("node-fatal") ? "Disabled" : "Ready"));
    }

    @ParameterizedTest
    @CsvSource({
        "gpuwarden, NODE, driver",
        "gpuwarden, NODE, clock",
        "syslog-health-monitor, NODE, SysLogsDriverError",
    })
    void fatalFaultOfTheNodeItselfMeetsOnlyTheDisabledRuleSet(String agent, String component, String check) {
        HealthEvent fatal = HealthEvent.of(agent, component, check).fatal(true).build();
        assertThat(RULES.match(fatal, MANAGED).met()).isEmpty();
        assertThat(RULES.disabledFor(fatal, MANAGED)).containsExactly("node-fatal");
        assertThat(RULES.disabledFor(HealthEvent.of(agent, component, check).build(), MANAGED))
                .as("not fatal")
                .isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "gpu-health-monitor, GPU, GpuMemWatch, gpu-fatal",
        "gpuwarden, GPU, gpu-lost, gpu-fatal",
        "gpuwarden, NIC, nic-link, nic-fatal",
        "gpuwarden, NODE, clock, ''",
        "syslog-health-monitor, GPU, SysLogsXIDError, syslog-fatal",
        "syslog-health-monitor, NVSWITCH, SysLogsSXIDError, syslog-fatal",
        "syslog-health-monitor, NODE, Driver, ''",
        "nic-health-monitor, NIC, InfiniBandStateCheck, nic-fatal",
        "csp-health-monitor, CSP, CSPMaintenance, csp-maintenance-fatal",
        "csp-health-monitor, CSP, Other, ''",
        "kubernetes-object-monitor, Software, gpu-operator-pods-health, kubernetes-object-fatal",
        "preflight-dcgm-diag, GPU, DcgmDiagnosticMemory, preflight-fatal",
        "somebody, GPU, check, ''"
    })
    void fatalEventMeetsOneRuleSetUnlessTheNodeOptsOut(String agent, String component, String check, String met) {
        HealthEvent.Builder event = HealthEvent.of(agent, component, check).nodeName("node-1");
        assertThat(RULES.match(event.build(), node(Map.of())).met()).isEmpty();
        HealthEvent fatal = event.fatal(true).build();
        RuleEvaluator.Matches matches = RULES.match(fatal, MANAGED);
        assertThat(matches.unanswered()).isEmpty();
        assertThat(matches.met().stream().map(QuarantineRuleSet::name).toList())
                .isEqualTo(met.isEmpty() ? List.of() : List.of(met));
        assertThat(matches.met()).allMatch(QuarantineRuleSet::cordon);
        for (String label : List.of("nvsentinel.dgxc.nvidia.com/managed", "k8saas.nvidia.com/ManagedByNVSentinel")) {
            assertThat(RULES.match(fatal, node(Map.of(label, "false"))).met()).isEmpty();
        }
    }
}
