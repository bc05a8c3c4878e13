package dev.gpuwarden.aggregator.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gpuwarden.aggregator.breaker.BreakerConfigMap;
import dev.gpuwarden.aggregator.breaker.BreakerPolicy.BreakerState;
import dev.gpuwarden.aggregator.breaker.BreakerPolicy.BreakerState.PoolState;
import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.fleet.FleetReader;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.core.util.JsonTrees;
import dev.gpuwarden.testkit.cluster.Binaries;
import dev.gpuwarden.testkit.cluster.ControlPlane;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A change of the breaker on a real API server. */
@Tag("api")
class BreakerChangeClusterTest {

    private static final String NAMESPACE = "breaker-change";
    private static final Instant TRIPPED = Instant.parse("2026-01-01T00:00:00Z");

    private ControlPlane plane;
    private KubeClient api;

    @BeforeEach
    void start() {
        Optional<String> missing = Binaries.ofUser().missing();
        assumeTrue(missing.isEmpty(), missing::orElseThrow);
        plane = ControlPlane.shared();
        KubeOptions options = new KubeOptions();
        options.kubeconfig = plane.adminKubeconfig();
        api = options.connect(Map.of());
        plane.client().apply("{apiVersion: v1, kind: Namespace, metadata: {name: %s}}".formatted(NAMESPACE));
        keep("{\"status\":\"open\",\"reason\":\"3 of 4\",\"since\":\"" + TRIPPED + "\",\"letThrough\":0}");
    }

    @AfterEach
    void end() {
        if (api != null) {
            api.close();
            plane.client().delete("configmaps/" + NAMESPACE);
        }
    }

    private void keep(String all) {
        plane.client().apply("""
                {apiVersion: v1, kind: ConfigMap, metadata: {name: gpuwarden-breaker, namespace: %s, labels: {mine: 'yes'}},
                 data: {all: '%s', other: '{"status":"closed","since":"2026-01-01T00:00:00Z"}'}}
                """.formatted(NAMESPACE, all));
    }

    private BreakerChange change(Clock clock) {
        return new BreakerChange(api, NAMESPACE, clock);
    }

    private Map<String, Object> kept() throws Exception {
        return api.get(BreakerConfigMap.kind(NAMESPACE).path(BreakerConfigMap.NAME));
    }

    private PoolState pool(String name) throws Exception {
        return BreakerState.of(JsonTrees.texts(kept(), "data"), Instant.EPOCH)
                .pools()
                .get(name);
    }

    @Test
    void onePoolIsClosedAndNothingElseChanges() throws Exception {
        Instant before = Instant.now().truncatedTo(ChronoUnit.MILLIS);
        BreakerChange.Plan plan = change(Clock.systemUTC()).plan("all", 0);
        assertThat(pool("all").status()).as("only planned").isEqualTo(PoolState.Status.OPEN);
        assertThat(plan.before().orElseThrow().reason()).isEqualTo("3 of 4");
        change(Clock.systemUTC()).write(plan);
        assertThat(pool("all").status()).isEqualTo(PoolState.Status.CLOSED);
        assertThat(pool("all").since()).isBetween(before, Instant.now());
        assertThat(pool("other").since()).isEqualTo(TRIPPED);
        assertThat(JsonTrees.object(JsonTrees.object(kept(), "metadata"), "labels"))
                .containsEntry("mine", "yes");
    }

    @Test
    void secondWriterChangesNothing() throws Exception {
        BreakerChange.Plan plan = change(Clock.systemUTC()).plan("all", 0);
        change(Clock.systemUTC()).write(change(Clock.systemUTC()).plan("all", 2));
        assertThatThrownBy(() -> change(Clock.systemUTC()).write(plan))
                .isInstanceOfSatisfying(
                        ApiException.class,
                        e -> assertThat(e.invalid() || e.conflict()).isTrue());
        assertThat(pool("all").status()).isEqualTo(PoolState.Status.HALF_OPEN);
        assertThat(pool("all").letThrough()).isEqualTo(2);
    }

    @Test
    void wrongClockIsReplacedByTheServersTime() throws Exception {
        Instant now = Instant.now();
        for (Duration wrong : new Duration[] {Duration.ofHours(2), Duration.ofHours(-2)}) {
            BreakerChange.Plan plan =
                    change(Clock.offset(Clock.systemUTC(), wrong)).plan("all", 0);
            assertThat(plan.after().since())
                    .isBetween(now.minusSeconds(5), Instant.now().plusSeconds(5));
            assertThat(plan.skew().orElseThrow().abs()).isBetween(Duration.ofMinutes(119), Duration.ofMinutes(121));
        }
        Instant ahead = now.plus(Duration.ofMinutes(3)).truncatedTo(ChronoUnit.MILLIS);
        keep("{\"status\":\"open\",\"reason\":\"\",\"since\":\"" + ahead + "\",\"letThrough\":0}");
        assertThat(change(Clock.systemUTC()).plan("all", 0).after().since())
                .as("younger than the stored state")
                .isEqualTo(ahead.plusMillis(1));
    }

    @Test
    void missingPoolIsRefused() throws Exception {
        assertThatThrownBy(() -> change(Clock.systemUTC()).plan("gpu-nodes", 0))
                .isInstanceOf(UserError.class)
                .hasMessageContaining("it has all, other");
        keep("nonsense");
        change(Clock.systemUTC()).write(change(Clock.systemUTC()).plan("all", 0));
        assertThat(pool("all").status()).as("an unreadable state can be closed").isEqualTo(PoolState.Status.CLOSED);
        plane.client().delete("configmap/" + NAMESPACE + "/gpuwarden-breaker");
        assertThatThrownBy(() -> change(Clock.systemUTC()).plan("all", 0))
                .isInstanceOf(UserError.class)
                .hasMessageContaining("there is no ConfigMap");
        assertThat(FleetReader.user(api).value()).isPresent();
    }
}
