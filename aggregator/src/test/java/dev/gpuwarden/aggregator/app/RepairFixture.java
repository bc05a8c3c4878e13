package dev.gpuwarden.aggregator.app;

import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.part.AuditLog.Entry;
import dev.gpuwarden.aggregator.remediation.RepairReconciler;
import dev.gpuwarden.aggregator.remediation.RepairTemplates;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.util.JsonTrees;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;

/** The repairs of a node. The tests end the resources like a janitor. */
abstract class RepairFixture extends FaultyNodeFixture {

    static final String GPU = "GPU-455d8f70-2051-db6c-0430-ffc457bff834";
    static final String OTHER = "GPU-55555555-2051-db6c-0430-ffc457bff834";

    final List<Entry> audits = new CopyOnWriteArrayList<>();

    static RepairReconciler.Settings settings(boolean armed, boolean manual) {
        return new RepairReconciler.Settings(
                armed, manual, 2, Duration.ofDays(7), Duration.ofSeconds(2), RepairTemplates.NONE, "gpuwarden");
    }

    HealthEvent.Builder xid(String code, RecommendedAction action, String gpu) {
        return HealthEvent.of("syslog-health-monitor", "GPU", "SysLogsXIDError")
                .nodeName(bad)
                .id("event-" + code)
                .fatal(true)
                .action(action)
                .message("<unknown> & worse")
                .errorCodes(List.of(code))
                .entities(List.of(Entity.gpu(gpu)));
    }

    void fail48(String gpu) {
        fleet.report(bad, xid("48", RecommendedAction.COMPONENT_RESET, gpu).build());
    }

    void recover(String code, String gpu) {
        fleet.report(
                bad,
                xid(code, RecommendedAction.NONE, gpu)
                        .fatal(false)
                        .healthy(true)
                        .build());
    }

    List<Map<String, Object>> resources(String plural) {
        return JsonTrees.objects(fleet.client.get(plural), "items").stream()
                .filter(each -> JsonTrees.text(JsonTrees.object(each, "spec"), "nodeName")
                        .equals(bad))
                .toList();
    }

    static String name(Map<String, Object> object) {
        return JsonTrees.text(JsonTrees.object(object, "metadata"), "name");
    }

    /** Returns what decides about the repair, for the message of a wait that has failed. */
    String seen() {
        return "seen " + fleet.client.get("node/" + bad) + ", " + resources("gpuresets") + " and " + audits;
    }

    String only(String plural) {
        until(() -> !resources(plural).isEmpty(), () -> "a resource is made, " + seen());
        assertThat(resources(plural)).hasSize(1);
        return name(resources(plural).get(0));
    }

    /** Ends a resource like its controller. */
    void finish(String plural, String name, String condition, boolean succeeded) {
        String now = Instant.now().toString();
        fleet.client.patch(
                plural + "/" + name + "/status", """
                {"status": {"startTime": "%s", "completionTime": "%s", "conditions": [{"type": "%s", "status": "%s",
                "reason": "Test", "message": "the GPU is in use", "lastTransitionTime": "%s"}]}}
                """.formatted(now, now, condition, succeeded ? "True" : "False", now));
    }

    List<String> decisions() {
        return audits.stream().map(Entry::decision).distinct().toList();
    }
}
