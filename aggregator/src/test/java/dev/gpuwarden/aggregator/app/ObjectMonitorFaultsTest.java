package dev.gpuwarden.aggregator.app;

import static dev.gpuwarden.aggregator.app.MonitoredPods.OPERATORS;
import static dev.gpuwarden.aggregator.app.MonitoredPods.RUNNING;
import static dev.gpuwarden.aggregator.app.MonitoredPods.WAITING;
import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.app.MonitoredPods.Running;
import dev.gpuwarden.testkit.cluster.ApiCall;
import dev.gpuwarden.testkit.cluster.ApiFault;
import dev.gpuwarden.testkit.cluster.FaultyApi;
import java.time.Duration;
import java.util.List;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests of object faults while the API server fails: each is written later, and once. */
@Tag("api")
class ObjectMonitorFaultsTest {

    private static final Duration OLD = Duration.ofMinutes(40);

    private MonitoredPods pods;
    private FaultyApi faulty;

    @BeforeEach
    void start() throws Exception {
        pods = new MonitoredPods();
        faulty = new FaultyApi(pods.fleet.plane);
    }

    @AfterEach
    void end() {
        if (faulty != null) {
            faulty.close();
        }
        if (pods != null) {
            pods.close();
        }
    }

    private Running run() {
        return new Running(pods.fleet.asAggregator(faulty));
    }

    /** Makes the pod fail and recover while these requests fail. */
    private void breaksAndMends(String what) {
        pods.is("validator", OLD, "Running", false, WAITING);
        until(() -> pods.faults().equals("gpu-operator/validator"), what + ": fault written");
        pods.is("validator", OLD, "Running", true, RUNNING);
        until(() -> pods.faults().isEmpty(), what + ": over");
    }

    @Test
    void expiredOrBrokenWatchLosesNothing() {
        pods.pod("validator", OLD, "Running", true, RUNNING);
        try (Running running = run()) {
            running.untilReason(OPERATORS, "Ready");
            for (String kind : List.of("/pods", "monitorpolicies")) {
                for (ApiFault fault : List.of(ApiFault.gone(), ApiFault.goneInWatch(), new ApiFault.CutBefore())) {
                    faulty.fail(ApiCall.watch(kind), 1, fault);
                    faulty.cut();
                    breaksAndMends(kind + ": " + fault);
                    faulty.heal();
                }
            }
        }
    }

    @Test
    void faultOfAnObjectDeletedDuringABrokenWatchEnds() {
        pods.pod("goes", OLD, "Failed", false, WAITING);
        try (Running running = run()) {
            running.untilReason(OPERATORS, "Ready");
            until(() -> pods.faults().equals("gpu-operator/goes"), "it is reported");
            faulty.fail(ApiCall.of("GET", "/pods"), ApiFault.gone());
            faulty.cut();
            pods.end("goes");
            assertThat(pods.faults()).isEqualTo("gpu-operator/goes");
            faulty.heal();
            until(() -> pods.faults().isEmpty(), "the next list has it no more");
        }
    }

    @Test
    void everyFailedWriteIsRetriedUntilItSucceeds() {
        pods.pod("validator", OLD, "Running", true, RUNNING);
        Predicate<ApiCall> place = ApiCall.of("PATCH", "/nodehealths/" + pods.node)
                .and(call -> call.path().endsWith("/status"));
        try (Running running = run()) {
            running.untilReason(OPERATORS, "Ready");
            for (ApiFault fault : List.of(
                    ApiFault.conflict(),
                    ApiFault.tooMany(Duration.ofSeconds(1)),
                    ApiFault.broken(),
                    new ApiFault.CutBefore(),
                    new ApiFault.CutAfter())) {
                faulty.fail(place, 2, fault);
                breaksAndMends("" + fault);
                faulty.heal();
            }
            until(() -> running.monitor.failing() == 0 && running.monitor.queued() == 0, "nothing is left to do");
        }
    }

    @Test
    void monitorContinuesAfterLosingAndRegainingTheLead() {
        pods.pod("validator", OLD, "Running", true, RUNNING);
        try (Running running = run()) {
            running.untilReason(OPERATORS, "Ready");
            for (int i = 0; i < 3; i++) {
                running.monitor.end();
                running.monitor.begin();
                breaksAndMends("term " + i);
            }
        }
    }

    @Test
    void changesDuringAnOutageAreWrittenAfterIt() {
        pods.pod("goes", OLD, "Failed", false, WAITING);
        pods.pod("breaks", OLD, "Running", true, RUNNING);
        try (Running running = run()) {
            until(() -> pods.faults().equals("gpu-operator/goes"), "the fault of the first is written");
            faulty.fail(ApiCall.any(), new ApiFault.CutBefore());
            faulty.cut();
            until(() -> !running.controllers.works(), "it leads no more");
            pods.end("goes");
            pods.is("breaks", OLD, "Failed", false, WAITING);
            assertThat(pods.faults()).isEqualTo("gpu-operator/goes");
            faulty.heal();
            until(() -> pods.faults().equals("gpu-operator/breaks"), "the present fault is written");
        }
    }
}
