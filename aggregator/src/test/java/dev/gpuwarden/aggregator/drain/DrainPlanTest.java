package dev.gpuwarden.aggregator.drain;

import static dev.gpuwarden.aggregator.drain.Some.NOW;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.drain.DrainPlan.PodPlan;
import dev.gpuwarden.aggregator.drain.DrainPlan.PodPlan.Step;
import dev.gpuwarden.aggregator.pods.PodView;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DrainPlanTest {

    private static final DrainPolicies AT_ONCE = Some.policies("*=Immediate");

    private static PodPlan plan(String pod, DrainPolicies policies, Instant now) {
        return DrainPlan.of(Some.full(), List.of(Some.read(pod)), Map.of(), policies, now)
                .get(0);
    }

    private static PodPlan plan(String pod) {
        return plan(pod, AT_ONCE, NOW);
    }

    private static String mirror(String pod) {
        return pod.replace("\"labels\"", "\"annotations\": {\"kubernetes.io/config.mirror\": \"x\"}, \"labels\"");
    }

    private static String ended(String pod) {
        return pod.replace("\"Running\"", "\"Succeeded\"");
    }

    private static String ofDaemonSet(String pod) {
        return pod.replace("ReplicaSet", "DaemonSet");
    }

    private static String unmanaged(String pod) {
        return pod.replace("\"controller\": true", "\"controller\": false");
    }

    private static String withFiles(String pod) {
        return pod.replace("\"containers\"", "\"volumes\": [{\"name\": \"v\", \"emptyDir\": {}}], \"containers\"");
    }

    private static String going(String pod) {
        return pod.replace("\"labels\"", "\"deletionTimestamp\": \"2026-11-22T06:01:00Z\", \"labels\"");
    }

    private static String notReady(String pod, String since) {
        return pod.replace("\"status\": \"True\"", "\"status\": \"False\", \"lastTransitionTime\": \"" + since + "\"");
    }

    @Test
    void firstRuleThatMatchesGivesTheReason() {
        String pod = Some.pod("p");
        assertThat(plan(pod).step()).isEqualTo(Step.EVICT);
        // From the last rule to the first: each has precedence over all before it in this list.
        List<String> expected = List.of(
                "no controller would start it again",
                "its emptyDir would be lost",
                "it has not been ready since 2026-11-22T05:54:59Z",
                "",
                "it is in a namespace of the system",
                "its DaemonSet would start it again there",
                "it is a mirror pod, started from a file on its node",
                "it has ended");
        List<Step> steps =
                List.of(Step.STAYS, Step.STAYS, Step.LEFT, Step.GOING, Step.LEFT, Step.LEFT, Step.LEFT, Step.LEFT);
        String all = pod;
        for (int i = 0; i < expected.size(); i++) {
            all = switch (i) {
                case 0 -> unmanaged(all);
                case 1 -> withFiles(all);
                case 2 -> notReady(all, "2026-11-22T05:54:59Z");
                case 3 -> going(all);
                case 4 -> all.replace("\"team\"", "\"kube-system\"");
                case 5 -> ofDaemonSet(all).replace("\"controller\": false", "\"controller\": true");
                case 6 -> mirror(all);
                default -> ended(all);
            };
            assertThat(plan(all).step()).as(all).isEqualTo(steps.get(i));
            assertThat(plan(all).reason()).startsWith(expected.get(i));
        }
    }

    private static String withGpu(String pod) {
        return pod.replace(
                "{\"name\": \"main\"}]},",
                "{\"name\": \"main\", \"resources\": {\"limits\": {\"nvidia.com/gpu\": \"1\"}}}]},");
    }

    @Test
    void podThatIsNotEvictedAndHoldsAGpuKeepsTheDrainOpen() {
        String pod = withGpu(Some.pod("p"));
        Map<String, String> unasked = Map.of(
                ofDaemonSet(pod), "its DaemonSet would start it again there",
                mirror(pod), "it is a mirror pod, started from a file on its node",
                pod.replace("\"team\"", "\"kube-system\""), "it is in a namespace of the system",
                notReady(pod, "2026-11-22T05:54:59Z"), "it has not been ready since 2026-11-22T05:54:59Z");
        unasked.forEach((each, why) -> {
            PodPlan full = plan(each);
            assertThat(full.step()).as(each).isEqualTo(Step.STAYS);
            assertThat(full.reason()).isEqualTo("it holds a GPU, and " + why);
            assertThat(full.inTheWay()).isTrue();
            String path = Some.read(each).path();
            assertThat(partial(each, Map.of(path, Set.of("GPU-1"))).step()).isEqualTo(Step.STAYS);
            assertThat(partial(each, Map.of(path, Set.of("GPU-2"))).step()).isEqualTo(Step.LEFT);
        });
        assertThat(plan(pod, Some.policies("other=Immediate"), NOW).reason())
                .isEqualTo("it holds a GPU, and no rule is for its namespace");
    }

    @Test
    void servicesThatStopForAResetDoNotKeepTheDrainOpen() {
        Map<String, Set<String>> open = Map.of("team/p", Set.of("GPU-1"));
        String service = selecting("nvidia.com/gpu.deploy.dcgm", ofDaemonSet(Some.pod("p")));
        assertThat(plan(service).step()).isEqualTo(Step.LEFT);
        assertThat(partial(service, open).step()).isEqualTo(Step.LEFT);
        String tenant = ofDaemonSet(Some.pod("p"));
        for (String label : List.of("nvidia.com/gpu.deploy.operands", "nvidia.com/gpu.deploy.mig-manager")) {
            PodPlan plan = partial(selecting(label, tenant), open);
            assertThat(plan.step()).as(label).isEqualTo(Step.STAYS);
            assertThat(plan.holds()).isTrue();
        }
        assertThat(plan(selecting("nvidia.com/gpu.deploy.dcgm", withGpu(tenant)))
                        .step())
                .as("it requests a GPU")
                .isEqualTo(Step.STAYS);
    }

    private static String selecting(String label, String pod) {
        return pod.replace("\"spec\": {", "\"spec\": {\"nodeSelector\": {\"" + label + "\": \"true\"}, ");
    }

    private static PodPlan partial(String pod, Map<String, Set<String>> holders) {
        return DrainPlan.of(Some.partial("GPU-1"), List.of(Some.read(pod)), holders, AT_ONCE, NOW)
                .get(0);
    }

    @Test
    void podsThatLoseFilesOrHaveNoControllerAreEvictedIfAllowed() {
        DrainPolicies all = new DrainPolicies(
                List.of(),
                AT_ONCE.namespaces(),
                AT_ONCE.system(),
                AT_ONCE.grace(),
                AT_ONCE.timeout(),
                AT_ONCE.notReady(),
                AT_ONCE.notice(),
                true,
                true);
        assertThat(plan(withFiles(unmanaged(Some.pod("p"))), all, NOW).step()).isEqualTo(Step.EVICT);
    }

    @Test
    void podThatMayEndByItselfIsAwaitedDespiteItsFiles() {
        PodPlan plan = plan(withFiles(unmanaged(Some.pod("p"))), DrainPolicies.DEFAULT, NOW);
        assertThat(plan.step()).isEqualTo(Step.AWAIT);
        assertThat(plan.inTheWay()).isTrue();
    }

    @Test
    void podStaysOnlyAfterFiveMinutesNotReady() {
        assertThat(plan(notReady(Some.pod("p"), "2026-11-22T05:55:00Z")).step()).isEqualTo(Step.EVICT);
        assertThat(plan(notReady(Some.pod("p"), "2026-11-22T05:54:59Z")).step()).isEqualTo(Step.LEFT);
    }

    @ParameterizedTest
    @CsvSource({
        "*=AllowCompletion|team=DeleteAfterTimeout, DELETE",
        "*=DeleteAfterTimeout|t*=AllowCompletion|te?m=Immediate, EVICT",
        "*=AllowCompletion, AWAIT",
        "teams=Immediate|tea=Immediate, LEFT"
    })
    void quickestModeOfTheMatchingNamespaceRulesDecides(String rules, Step step) {
        assertThat(plan(Some.pod("p"), Some.policies(rules.split("\\|")), NOW).step())
                .isEqualTo(step);
    }

    @ParameterizedTest
    @CsvSource({
        "app=web;AllowCompletion|app;Immediate, AWAIT",
        "app=db;AllowCompletion|app;Immediate, EVICT",
        "'app;AllowCompletion;other-*|app,!tier;DeleteAfterTimeout;t*', DELETE",
        "app=db;AllowCompletion, EVICT"
    })
    void podRulesComeBeforeNamespaceRulesAndTheFirstDecides(String rules, Step step) {
        DrainPolicies policies = new DrainPolicies(
                DrainPolicies.Parser.pods(List.of(rules.replace("|", ",").split(","))),
                AT_ONCE.namespaces(),
                AT_ONCE.system(),
                AT_ONCE.grace(),
                AT_ONCE.timeout(),
                AT_ONCE.notReady(),
                AT_ONCE.notice(),
                false,
                false);
        assertThat(plan(Some.pod("p"), policies, NOW).step()).isEqualTo(step);
    }

    @Test
    void deadlineCountsFromTheStartOfTheDrain() {
        DrainPolicies policies = Some.policies("*=DeleteAfterTimeout");
        PodPlan plan = plan(Some.pod("p"), policies, NOW.plus(Duration.ofMinutes(59)));
        assertThat(plan.at()).contains(NOW.plus(Duration.ofMinutes(60)));
    }

    @Test
    void forcedDrainIgnoresTheModes() {
        DrainAnnotation forced = DrainAnnotation.NONE.with(new DrainRequest(true, Set.of(), true, "Xid"), NOW);
        List<String> pods = List.of(
                unmanaged(withFiles(Some.pod("a"))),
                notReady(Some.pod("b"), "2026-11-22T01:00:00Z"),
                ofDaemonSet(Some.pod("c")),
                Some.pod("d").replace("\"team\"", "\"gpu-operator\""));
        List<PodPlan> plan =
                DrainPlan.of(forced, pods.stream().map(Some::read).toList(), Map.of(), DrainPolicies.DEFAULT, NOW);
        // The plan is in the order of the pods' paths.
        assertThat(plan.stream().map(PodPlan::step)).containsExactly(Step.LEFT, Step.EVICT, Step.EVICT, Step.LEFT);
    }

    @Test
    void partialDrainEvictsTheHoldersOfItsGpus() {
        List<PodView> pods =
                Stream.of("a", "b", "c").map(Some::pod).map(Some::read).toList();
        List<PodPlan> plan = DrainPlan.of(
                Some.partial("GPU-1", "GPU-2"),
                pods,
                Map.of("team/a", Set.of("GPU-1"), "team/c", Set.of("GPU-3")),
                AT_ONCE,
                NOW);
        assertThat(plan.stream().map(PodPlan::step)).containsExactly(Step.EVICT, Step.LEFT, Step.LEFT);
    }
}
