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
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests of object faults while the API server fails: each is written later, and once. */
@Tag("api")
class ObjectMonitorFaultsTest {

    private static final Duration OLD = Duration.ofMinutes(40);
    private static final String HARMLESS = "harmless";

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

    private static void untilIdle(Running running) {
        // In this order: a write that fails counts as failing before it is no longer queued.
        until(() -> running.monitor.queued() == 0 && running.monitor.failing() == 0, "nothing is left to do");
    }

    private static void untilMatches(Running running, String policy, int matches) {
        until(
                () -> Objects.equals(running.monitor.mostOfANode().get(policy), matches),
                policy + " has matches: " + matches);
    }

    /** Matches lists and watches of all objects of a kind. */
    private static Predicate<ApiCall> informersOf(String plural) {
        return ApiCall.of("GET", plural).and(call -> call.path().endsWith(plural));
    }

    private Predicate<ApiCall> write() {
        return ApiCall.of("PATCH", "/nodehealths/" + pods.node)
                .and(call -> call.path().endsWith("/status"));
    }

    @Test
    void faultThatTheCacheMissedEndsAfterTheNextList() {
        Duration young = Duration.ZERO;
        pods.pod("validator", young, "Running", true, RUNNING);
        // A fatal fault would not do: before a cordon quarantine reads the NodeHealth, which updates the cache.
        pods.policy(HARMLESS, "resource.status.containerStatuses[0].ready == false", "");
        try (Running running = run()) {
            running.untilReason(HARMLESS, "Ready");
            pods.is("validator", young, "Running", false, WAITING);
            until(() -> pods.faults().equals("gpu-operator/validator"), "the fault is written");
            pods.is("validator", young, "Running", true, RUNNING);
            until(() -> pods.faults().isEmpty(), "it is over, and the cache has the NodeHealth");
            untilIdle(running);

            // The answer is lost, and the watch is broken: the cache misses the write.
            faulty.fail(informersOf("/nodehealths"), new ApiFault.CutBefore());
            faulty.fail(write(), 1, new ApiFault.CutAfter());
            faulty.cut();
            pods.is("validator", young, "Running", false, WAITING);
            until(() -> pods.faults().equals("gpu-operator/validator"), "the fault is written again");
            untilIdle(running);
            pods.is("validator", young, "Running", true, RUNNING);
            untilMatches(running, HARMLESS, 0);
            untilIdle(running);
            assertThat(pods.faults()).as("the cache has no fault to end").isEqualTo("gpu-operator/validator");
            faulty.heal();
            until(() -> pods.faults().isEmpty(), "the next list has the fault, which ends");
        }
    }

    @Test
    void faultThatTheNextLeaderSeesLateStaysWhileItListsTheObjects() {
        pods.pod("validator", OLD, "Running", true, RUNNING);
        AtomicBoolean healthsArrive = new AtomicBoolean();
        Running first = pods.run();
        first.untilReason(OPERATORS, "Ready");
        try (Running next = new Running(pods.fleet.asAggregator(faulty), "two")) {
            String fault;
            try (first) {
                until(() -> next.controllers.waitingFor().isEmpty(), "the next replica has its copies");
                faulty.fail(informersOf("/nodehealths").and(call -> !healthsArrive.get()), new ApiFault.CutBefore());
                faulty.fail(informersOf("/pods"), new ApiFault.CutBefore());
                faulty.cut();
                pods.is("validator", OLD, "Running", false, WAITING);
                until(() -> pods.faults().equals("gpu-operator/validator"), "the first replica writes the fault");
                fault = pods.reported(".faults[*]");
            }
            until(() -> next.monitor.mostOfANode().containsKey(OPERATORS), "the next replica leads");
            healthsArrive.set(true);
            untilMatches(next, OPERATORS, 1);
            untilIdle(next);
            assertThat(pods.reported(".faults[*]")).isEqualTo(fault);
            faulty.heal();
            next.untilReason(OPERATORS, "Ready");
            untilIdle(next);
            assertThat(pods.reported(".faults[*]")).isEqualTo(fault);
            pods.end("validator");
            until(() -> pods.faults().isEmpty(), "the fault ends with its object");
        }
    }

    @Test
    void everyFailedWriteIsRetriedUntilItSucceeds() {
        pods.pod("validator", OLD, "Running", true, RUNNING);
        try (Running running = run()) {
            running.untilReason(OPERATORS, "Ready");
            for (ApiFault fault : List.of(
                    ApiFault.conflict(),
                    ApiFault.tooMany(Duration.ofSeconds(1)),
                    ApiFault.broken(),
                    new ApiFault.CutBefore(),
                    new ApiFault.CutAfter())) {
                faulty.fail(write(), 2, fault);
                breaksAndMends("" + fault);
                faulty.heal();
            }
            untilIdle(running);
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
