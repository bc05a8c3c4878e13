package dev.gpuwarden.aggregator.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.controller.ActionMode;
import dev.gpuwarden.aggregator.drain.DrainPolicies;
import dev.gpuwarden.aggregator.drain.DrainReconciler;
import dev.gpuwarden.aggregator.janitor.JanitorSettings;
import dev.gpuwarden.aggregator.janitor.JanitorSettings.JanitorTimes;
import dev.gpuwarden.aggregator.janitor.JanitorSettings.RebootProvider;
import dev.gpuwarden.aggregator.pods.SystemNamespaces;
import dev.gpuwarden.aggregator.vram.VramSettings;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.testkit.cluster.UsedRights;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The rights that VRAM budgets and the janitor need, at a real API server with the shipped roles. */
@Tag("api")
@ExtendWith(UsedRights.class)
class ArmedRightsClusterTest {

    private TestFleet fleet;

    @BeforeEach
    void start() {
        fleet = TestFleet.start();
    }

    @AfterEach
    void end() {
        if (fleet != null) {
            fleet.close();
        }
    }

    private static VramSettings settings(boolean advertises, ActionMode mode, boolean deletes) {
        return new VramSettings("gpuwarden.dev/vram-mib", advertises, mode, deletes, true, List.of(), "gpuwarden");
    }

    private static void check(KubeClient api, VramSettings vram) throws InterruptedException {
        StartCheck.check(
                api, Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty(), Optional.of(vram));
    }

    /** Returns the lines of the refusal. */
    private static List<String> refusal(KubeClient api, VramSettings vram) {
        Throwable refused = catchThrowable(() -> check(api, vram));
        assertThat(refused).isInstanceOf(UserError.class);
        return refused.getMessage().lines().toList();
    }

    private static String line(String setting, String rights, String source, String other) {
        return setting + " needs rights that this ServiceAccount does not have: " + rights
                + ". Apply the manifests with " + source + ", or start with " + other;
    }

    @Test
    void eachMissingRightOfEachSettingIsNamed() throws Exception {
        String advertise = line(
                "--vram.capacity=on",
                "patch nodes/status, create events",
                "their component components/vram-advertise",
                "--vram.capacity=off");
        String evict = line(
                "--vram.evictions=armed",
                "create pods/eviction, create events",
                "their component components/vram-armed",
                "--vram.evictions=dry-run");
        String delete =
                line("--vram.delete=on", "delete pods", "their component components/vram-delete", "--vram.delete=off");
        VramSettings all = settings(true, ActionMode.ARMED, true);
        fleet.client.apply("{apiVersion: v1, kind: ServiceAccount, metadata: {name: stranger, namespace: gpuwarden}}");
        try (KubeClient stranger = fleet.as("stranger");
                KubeClient shipped = fleet.asDryRun()) {
            assertThat(refusal(stranger, all))
                    .containsExactly(
                            advertise,
                            evict,
                            line(
                                    "--vram.evictions=armed",
                                    "list nodes, watch nodes, list pods, watch pods",
                                    "gpuwarden-aggregator.yaml",
                                    "--vram.evictions=off"),
                            delete);
            assertThatCode(() -> check(stranger, settings(false, ActionMode.DRY_RUN, true)))
                    .as("the default only logs")
                    .doesNotThrowAnyException();
            assertThat(refusal(shipped, all)).containsExactly(advertise, evict, delete);
            assertThat(refusal(shipped, settings(true, ActionMode.DRY_RUN, false)))
                    .containsExactly(advertise);
        }
        fleet.apply("components/vram-advertise/rights.yaml");
        fleet.apply("components/vram-armed/rights.yaml");
        fleet.apply("components/vram-delete/rights.yaml");
        try (KubeClient granted = fleet.asAggregator()) {
            assertThatCode(() -> check(granted, all)).doesNotThrowAnyException();
        }
    }

    @Test
    void onlyADrainThatDeletesPodsNeedsTheRightTo() throws Exception {
        try (KubeClient shipped = fleet.asDryRun()) {
            assertThat(drainRefusal(shipped, "*=Immediate")).doesNotContain("delete pods");
            assertThat(drainRefusal(shipped, "*=Immediate,team-*=DeleteAfterTimeout"))
                    .contains(line(
                            "the mode DeleteAfterTimeout of drains",
                            "delete pods",
                            "their component components/drain-delete",
                            "no such mode in --drain.namespaces and --drain.pods"));
        }
    }

    private static String drainRefusal(KubeClient api, String namespaces) {
        DrainPolicies usual = DrainPolicies.DEFAULT;
        DrainPolicies policies = new DrainPolicies(
                List.of(),
                Stream.of(namespaces.split(","))
                        .map(DrainPolicies.Parser::namespace)
                        .toList(),
                usual.system(),
                usual.grace(),
                usual.timeout(),
                usual.notReady(),
                usual.notice(),
                usual.emptyDir(),
                usual.unmanaged());
        return String.valueOf(catchThrowable(() -> StartCheck.check(
                        api,
                        Optional.empty(),
                        Optional.of(new DrainReconciler.Settings(
                                true, policies, DrainPolicies.DrainTimes.DEFAULT, false, false)),
                        Optional.empty(),
                        Optional.empty(),
                        Optional.empty()))
                .getMessage());
    }

    @Test
    void eachRightOfTheJanitorIsGrantedByItsComponent() throws Exception {
        Optional<JanitorSettings> set = Optional.of(janitor("gpuwarden"));
        Optional<JanitorSettings> elsewhere = Optional.of(janitor("default"));
        try (KubeClient shipped = fleet.asDryRun()) {
            assertThat(catchThrowable(() -> StartCheck.check(
                            shipped, Optional.empty(), Optional.empty(), Optional.empty(), set, Optional.empty())))
                    .hasMessageStartingWith("--janitor.image=gpuwarden:test needs rights")
                    .hasMessageContaining("patch gpuresets/status.janitor.dgxc.nvidia.com, ")
                    .hasMessageContaining("create jobs.batch in gpuwarden, ")
                    .hasMessageContaining("delete leases.coordination.k8s.io in gpuwarden. ");
        }
        fleet.apply("components/remediation-armed/janitor-rights.yaml");
        try (KubeClient granted = fleet.asAggregator()) {
            assertThatCode(() -> StartCheck.check(
                            granted, Optional.empty(), Optional.empty(), Optional.empty(), set, Optional.empty()))
                    .doesNotThrowAnyException();
            fleet.client.delete("rolebinding/gpuwarden/gpuwarden-maintenance");
            assertThat(catchThrowable(() -> StartCheck.check(
                            granted, Optional.empty(), Optional.empty(), Optional.empty(), set, Optional.empty())))
                    .isInstanceOf(UserError.class)
                    .hasMessageStartingWith(
                            "--janitor.image=gpuwarden:test needs the ServiceAccount gpuwarden-maintenance")
                    .hasMessageContaining("it lacks the rights get leases.coordination.k8s.io in gpuwarden. ");
            fleet.client.delete("serviceaccount/gpuwarden/gpuwarden-maintenance");
            assertThat(catchThrowable(() -> StartCheck.check(
                            granted, Optional.empty(), Optional.empty(), Optional.empty(), set, Optional.empty())))
                    .hasMessageContaining("there is none. Apply the manifests");
            fleet.apply("components/remediation-armed/janitor-rights.yaml");
            assertThat(catchThrowable(() -> StartCheck.check(
                            granted,
                            Optional.empty(),
                            Optional.empty(),
                            Optional.empty(),
                            elsewhere,
                            Optional.empty())))
                    .as("the component has no Role in another namespace")
                    .hasMessageContaining("delete leases.coordination.k8s.io in default. ")
                    .hasMessageContaining("a Role for them in the namespace default; ");
        }
    }

    private static JanitorSettings janitor(String lockNamespace) {
        return new JanitorSettings(
                "gpuwarden",
                lockNamespace,
                "gpuwarden:test",
                RebootProvider.JOB,
                Optional.empty(),
                SystemNamespaces.of(""),
                JanitorTimes.DEFAULT);
    }
}
