package dev.gpuwarden.aggregator.remediation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.Json;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.maintenance.MaintenanceKind;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.testkit.TestClock;
import dev.gpuwarden.testkit.cluster.Binaries;
import dev.gpuwarden.testkit.cluster.ControlPlane;
import io.fabric8.kubernetes.client.Config;
import java.nio.file.Files;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests that a replica that stood still neither locks a node nor makes a resource. Another replica may have ended the repair. */
@Tag("api")
class RepairRequestsClusterTest {

    private static final String NODE = "stood-still-before-a-template";

    private final ControlPlane plane = plane();
    private final TestClock clock = new TestClock();

    private static ControlPlane plane() {
        Optional<String> missing = Binaries.ofUser().missing();
        assumeTrue(missing.isEmpty(), missing::orElseThrow);
        return ControlPlane.shared();
    }

    @Test
    void replicaThatStoodStillAfterItsDecisionLocksNoNode() throws Exception {
        RepairTemplates templates = TestTemplates.ticket("ticket", "CONTACT_SUPPORT");
        RepairGroup group = new RepairGroup(templates.all().get(0).kind(), new TreeSet<>());
        Repair repair = new Repair(
                "maintenance-" + NODE,
                group,
                "support",
                "f",
                "why",
                Set.of("check"),
                clock.instant(),
                Optional.empty(),
                "");
        Demand demand = new Demand(
                "f",
                "check",
                RecommendedAction.CONTACT_SUPPORT,
                Set.of("check"),
                clock.instant(),
                Optional.of(group),
                "",
                HealthEvent.of("a", "GPU", "check").nodeName(NODE).build());
        CachedNode node =
                CachedNode.of(Json.readObject("{\"metadata\": {\"name\": \"" + NODE + "\", \"uid\": \"u\"}}"));
        String lease = MaintenanceKind.locks("default").path(NODE);
        Config config = Config.fromKubeconfig(Files.readString(plane.adminKubeconfig()));
        config.setClientKeyAlgo("EC");
        try (KubeClient api = KubeClient.connect(config);
                MaintenanceResources resources =
                        new MaintenanceResources(api, List.of(), Optional.empty(), any -> {}, () -> {})) {
            AtomicBoolean open = new AtomicBoolean();
            TemplateLock lock = new TemplateLock(api, "default", clock);
            RepairRequests requests =
                    new RepairRequests(api, resources, templates, lock, (any, attempt) -> open.get(), clock);
            assertThat(requests.make(node, repair, List.of(demand), requests.decisionNanos()))
                    .as("the node returned to service after the decision")
                    .isEqualTo(new RepairRequests.Result.Later(Duration.ofSeconds(1)));
            assertThat(api.find(lease)).isEmpty();
            open.set(true);

            long decided = requests.decisionNanos();
            clock.advance(Duration.ofSeconds(9));
            assertThat(requests.make(node, repair, List.of(demand), decided))
                    .isEqualTo(new RepairRequests.Result.Later(Duration.ZERO));
            assertThat(api.find(lease)).isEmpty();

            long again = requests.decisionNanos();
            clock.advance(Duration.ofSeconds(8));
            assertThatThrownBy(() -> requests.make(node, repair, List.of(demand), again))
                    .as("the kind of the ticket is not defined here")
                    .isInstanceOfSatisfying(
                            ApiException.class, e -> assertThat(e.notFound()).isTrue());
            assertThat(api.find(lease)).isPresent();
            assertThat(lock.oldestSeconds(clock.instant().plusSeconds(4_000))).isEqualTo(4_000);
            lock.releaseUnlessFor(Set.of(), NODE);
            assertThat(lock.oldestSeconds(clock.instant())).isZero();
            assertThat(api.find(lease)).isEmpty();
        }
    }
}
