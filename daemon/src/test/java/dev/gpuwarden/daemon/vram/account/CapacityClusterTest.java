package dev.gpuwarden.daemon.vram.account;

import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.daemon.kube.TestCluster;
import dev.gpuwarden.testkit.cluster.ApiCall;
import dev.gpuwarden.testkit.cluster.FaultyApi;
import dev.gpuwarden.testkit.cluster.UsedRights;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The amount of VRAM in the Node, by the daemon's own account. */
@ExtendWith(UsedRights.class)
class CapacityClusterTest extends AccountFixture {

    private static final Duration SOON = Duration.ofSeconds(5);
    private static final Predicate<ApiCall> WRITES = ApiCall.of("PATCH", "/status");

    private void untilCapacity(String value) {
        long start = System.nanoTime();
        until(() -> capacity(node).equals(value), "the Node has " + value);
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(SOON);
    }

    private void setCapacity(String value) {
        plane.client()
                .patch(
                        "node/" + node + "/status?fieldManager=kubectl-edit",
                        "{\"status\": {\"capacity\": {\"" + RESOURCE + "\": " + value + "}}}");
    }

    private String marks() {
        return plane.client().find("node/" + node, ".metadata.annotations")
                + plane.client().find("node/" + node, ".status.capacity");
    }

    @Test
    void theAmountComesBackAfterEachChangeAndGoesWithoutATrace() throws Exception {
        String before = marks();
        NodeAccount account = start();
        account.advertise(OptionalLong.of(14000));
        untilCapacity("14k");
        account.advertise(OptionalLong.of(9000));
        untilCapacity("9k");

        setCapacity("\"0\"");
        untilCapacity("9k");
        setCapacity("null");
        untilCapacity("9k");
        plane.client().deleteNow("node/" + node);
        TestCluster.node(plane, node);
        untilCapacity("9k");

        account.advertise(OptionalLong.empty());
        untilCapacity("");
        assertThat(marks()).isEqualTo(before);
    }

    @Test
    void anEqualAmountIsNotWrittenAndAChangeWhileItIsAwayIsMended() throws Exception {
        try (FaultyApi between = new FaultyApi(plane)) {
            String kubeconfig = between.kubeconfig(TestCluster.token(plane, node));
            NodeAccount account = start(kubeconfig, Duration.ofSeconds(90));
            for (int i = 0; i < 100; i++) {
                account.advertise(OptionalLong.of(5000));
            }
            untilCapacity("5k");
            plane.client().patch("node/" + node, "{\"metadata\": {\"labels\": {\"zone\": \"b\"}}}");
            setCapacity("\"7\"");
            untilCapacity("5k");
            assertThat(between.count(WRITES)).isEqualTo(2);
            parts.close();

            setCapacity("\"0\"");
            plane.client().patch("node/" + node + "/status?fieldManager=gpuwarden-vram", """
                    {"status": {"capacity": {"gpuwarden.dev/vram-mib": "80000"}}}""");
            start(kubeconfig, Duration.ofSeconds(90)).advertise(OptionalLong.of(5000));
            untilCapacity("5k");
            NodeAccount again = start(kubeconfig, Duration.ofSeconds(90));
            again.advertise(OptionalLong.of(5000));
            until(() -> again.pods().asOptional().isPresent(), "it follows its pods");
            assertThat(between.count(WRITES)).isEqualTo(3);
        }
    }

    @Test
    void aResourceOfAnotherOwnerIsRefusedWithItsName() throws Exception {
        plane.client().patch("node/" + node + "/status?fieldManager=another-plugin", """
                {"status": {"capacity": {"gpuwarden.dev/vram-mib": "3"}}}""");
        NodeAccount account = start("--kubernetes.write=events");
        account.advertise(OptionalLong.of(14000));
        until(() -> TestCluster.events(plane, node).contains("Warning VramNotAdvertised 1"), "the Node has an Event");
        assertThat(plane.client()
                        .get("events/default?fieldSelector=involvedObject.name%3D" + node)
                        .toString())
                .contains("the Node has " + RESOURCE + " 3 already, written by another-plugin");
        account.advertise(OptionalLong.empty());
        NodeAccount off = parts.add(NodeAccount.start(connect(kubeconfig()).api(), RESOURCE, false));
        off.advertise(OptionalLong.empty());
        assertThat(capacity(node)).isEqualTo("3");
    }

    @Test
    void aDaemonWithoutBudgetsRemovesTheAmountOfTheOneBefore() throws Exception {
        start().advertise(OptionalLong.of(14000));
        untilCapacity("14k");
        parts.close();
        parts.add(NodeAccount.start(connect(kubeconfig()).api(), RESOURCE, false));
        untilCapacity("");
    }

    @Test
    void aWriterThatAlwaysChangesTheValueBackWinsUntilItStops() throws Exception {
        try (FaultyApi between = new FaultyApi(plane)) {
            NodeAccount account = start(between.kubeconfig(TestCluster.token(plane, node)), Duration.ofSeconds(90));
            account.advertise(OptionalLong.of(5000));
            for (int i = 0; i < CapacityKeeper.BURST; i++) {
                untilCapacity("5k");
                setCapacity("\"1\"");
            }
            setCapacity("\"2\"");
            assertThat(between.count(WRITES)).isEqualTo(CapacityKeeper.BURST);
            assertThat(capacity(node)).isEqualTo("2");
        }
    }

    @Test
    void aDryRunIsCheckedOnceAndWritesNothing() throws Exception {
        try (FaultyApi between = new FaultyApi(plane)) {
            NodeAccount account = start(
                    between.kubeconfig(TestCluster.token(plane, node)), Duration.ofSeconds(90), "--kubernetes.dry-run");
            account.advertise(OptionalLong.of(5000));
            until(() -> between.count(WRITES) == 1, "the API server has checked the write");
            plane.client().patch("node/" + node, "{\"metadata\": {\"labels\": {\"zone\": \"c\"}}}");
            assertThat(capacity(node)).isEmpty();
            assertThat(between.count(WRITES)).isEqualTo(1);
        }
    }
}
