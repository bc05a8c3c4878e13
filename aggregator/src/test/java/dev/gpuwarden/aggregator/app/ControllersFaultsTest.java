package dev.gpuwarden.aggregator.app;

import static dev.gpuwarden.aggregator.app.TestFleet.settings;
import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.controller.ActionMode;
import dev.gpuwarden.aggregator.quarantine.AuditRecord;
import dev.gpuwarden.testkit.cluster.ApiCall;
import dev.gpuwarden.testkit.cluster.ApiFault;
import dev.gpuwarden.testkit.cluster.FaultyApi;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests of decisions while the API server fails: each is carried out later, and once. */
@Tag("api")
class ControllersFaultsTest {

    private final List<AuditRecord> audits = new CopyOnWriteArrayList<>();
    private TestFleet fleet;
    private FaultyApi faulty;
    private int nodes;

    @BeforeEach
    void start() throws Exception {
        fleet = TestFleet.start();
        faulty = new FaultyApi(fleet.plane);
    }

    @AfterEach
    void end() {
        if (faulty != null) {
            faulty.close();
            fleet.close();
        }
    }

    private static Map<String, ApiFault> failures() {
        Map<String, ApiFault> failures = new LinkedHashMap<>();
        failures.put("409", ApiFault.conflict());
        failures.put("429", ApiFault.tooMany(Duration.ofSeconds(1)));
        failures.put("500", ApiFault.broken());
        failures.put("503", ApiFault.unavailable());
        failures.put("cut before", new ApiFault.CutBefore());
        failures.put("cut after", new ApiFault.CutAfter());
        return failures;
    }

    /**
     * Makes a node faulty while these requests fail. In the end it is in quarantine, with its condition and Event; then it
     * returns.
     */
    private void falls(String what, Predicate<ApiCall> these, ApiFault fault) {
        String node = fleet.named("n" + nodes++);
        fleet.node(node);
        faulty.fail(these, 2, fault);
        fleet.fail(node);
        until(() -> fleet.cordoned(node), what + ": cordoned");
        until(() -> fleet.condition(node).equals("True"), what + ": condition written");
        until(() -> fleet.eventReasons(node).contains("Quarantined"), what + ": Event written");
        fleet.heal(node);
        until(() -> !fleet.cordoned(node) && fleet.condition(node).equals("False"), what + ": returned");
        until(
                () -> fleet.eventReasons(node).equals(List.of("Quarantined", "ReturnedToService")),
                what + ": one Event each");
        faulty.heal();
    }

    @Test
    void everyFailedWriteIsRetriedUntilItSucceeds() {
        Predicate<ApiCall> patch =
                ApiCall.of("PATCH", "/nodes/n").and(call -> !call.path().endsWith("/status"));
        Predicate<ApiCall> status =
                ApiCall.of("PATCH", "/nodes/n").and(call -> call.path().endsWith("/status"));
        try (KubeClient api = fleet.asAggregator(faulty);
                Controllers controllers = Controllers.start(api, settings("one", ActionMode.ARMED, 100), audits::add)) {
            until(controllers::works, "it leads");
            failures().forEach((name, fault) -> {
                falls(name + " for the cordon", patch, fault);
                falls(name + " for the condition", status, fault);
                falls(name + " for the Event", ApiCall.of("POST", "/events"), fault);
            });
            until(() -> controllers.failing() == 0 && controllers.queued() == 0, "nothing is left to do");
        }
    }

    @Test
    void expiredOrBrokenWatchLosesNothing() {
        try (KubeClient api = fleet.asAggregator(faulty);
                Controllers controllers = Controllers.start(api, settings("one", ActionMode.ARMED, 100), audits::add)) {
            until(controllers::works, "it leads");
            for (String kind : List.of("nodehealths", "nodes", "quarantinerulesets")) {
                for (ApiFault fault : List.of(ApiFault.gone(), ApiFault.goneInWatch(), new ApiFault.CutBefore())) {
                    faulty.fail(ApiCall.watch(kind), 1, fault);
                    faulty.cut();
                    falls(kind + ": " + fault, ApiCall.watch(kind), fault);
                }
            }
            until(controllers::works, "it leads still, or again");
        }
    }

    @Test
    void outageStopsActionsAndTheLatestStateIsAppliedAfterIt() {
        String falls = fleet.named("n-falls");
        String returns = fleet.named("n-returns");
        String both = fleet.named("n-both");
        List.of(falls, returns, both).forEach(fleet::node);
        fleet.fail(returns);
        try (KubeClient api = fleet.asAggregator(faulty);
                Controllers controllers = Controllers.start(api, settings("one", ActionMode.ARMED, 100), audits::add)) {
            until(() -> fleet.eventReasons(returns).contains("Quarantined"), "one is in quarantine");
            faulty.fail(ApiCall.any(), new ApiFault.CutBefore());
            faulty.cut();
            until(() -> !controllers.works(), "it leads no more");
            fleet.fail(falls);
            fleet.heal(returns);
            fleet.fail(both);
            fleet.heal(both);
            // A report that arrives within five seconds counts as the newest, and acts.
            Instant late = Instant.now().plusSeconds(6);
            until(() -> Instant.now().isAfter(late), "the reports are late");
            faulty.heal();
            until(() -> fleet.cordoned(falls) && !fleet.cordoned(returns), "what is so now is acted on");
            until(() -> controllers.queued() == 0, "all is done");
            assertThat(audits.stream().map(AuditRecord::node)).doesNotContain(both);
        }
    }
}
