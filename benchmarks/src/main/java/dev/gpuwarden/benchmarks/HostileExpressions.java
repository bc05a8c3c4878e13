package dev.gpuwarden.benchmarks;

import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.testkit.cel.RandomExpressions;
import io.fabric8.kubernetes.client.Config;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ScheduledExecutorService;

/**
 * Expressions of users with the right to write rule sets and policies: one that squares a text of 16 kB, one that would take
 * minutes, and random ones. A random rule set and a random policy change each second, the long one every three seconds.
 */
final class HostileExpressions {

    private static final String API = "gpuwarden.dev/v1alpha1";
    private static final String PATH = "/apis/" + API;
    private static final String LONG = "[1,2,3,4,5,6,7,8,9,10]";

    private final KubeClient api;
    private final AttackTally tally;
    private final RandomExpressions chance = new RandomExpressions(
            7,
            List.of("resource.metadata.name", "resource.spec.nodeName", "resource.metadata.namespace"),
            List.of("['x', 'yy']", "resource.spec.containers.map(c, c.name)"));
    private int number;

    HostileExpressions(AttackTargets targets, AttackTally tally) throws IOException {
        Config config = Config.fromKubeconfig(Files.readString(targets.kubeconfig()));
        config.setClientKeyAlgo("EC");
        this.api = KubeClient.connect(config);
        this.tally = tally;
    }

    void begin(ScheduledExecutorService timer) {
        tally.repeat(timer, 1000, this::ruleSet);
        tally.repeat(timer, 1000, () -> policy("chance", chance.next()));
        tally.repeat(timer, 3000, () -> policy("endless", endless()));
    }

    private synchronized int next() {
        return ++number;
    }

    private void ruleSet() {
        String expression = "event.message.replace('x', event.message).size() > " + next();
        apply(
                "quarantinerulesets",
                "hostile",
                Map.of(
                        "apiVersion",
                        API,
                        "kind",
                        "QuarantineRuleSet",
                        "metadata",
                        Map.of("name", "hostile"),
                        "spec",
                        Map.of(
                                "match",
                                        Map.of("all", List.of(Map.of("kind", "HealthEvent", "expression", expression))),
                                "cordon", Map.of("shouldCordon", true))));
    }

    private String endless() {
        return LONG + ".all(a, " + LONG + ".all(b, " + LONG + ".all(c, " + LONG
                + ".all(d, resource.metadata.name.replace('d', 'aaaaaaaaaaaaaaaaaaaa').matches('(a+)+b" + next()
                + "') == false))))";
    }

    /** Applies a policy for the kind of the good policy, so that one thread evaluates both. */
    private void policy(String name, String predicate) {
        apply(
                "monitorpolicies",
                name,
                Map.of(
                        "apiVersion",
                        API,
                        "kind",
                        "MonitorPolicy",
                        "metadata",
                        Map.of("name", name),
                        "spec",
                        Map.of(
                                "resource", Map.of("group", "", "version", "v1", "kind", "Pod"),
                                "predicate", Map.of("expression", predicate),
                                "nodeAssociation", Map.of("expression", "resource.spec.nodeName"),
                                "healthEvent",
                                        Map.of(
                                                "componentClass",
                                                "Software",
                                                "isFatal",
                                                false,
                                                "message",
                                                "a stranger's policy",
                                                "errorCode",
                                                List.of("STRANGE")))));
    }

    private void apply(String kind, String name, Map<String, Object> body) {
        try {
            var unused = api.apply(PATH + "/" + kind + "/" + name, "attack", body);
            tally.count("expressions, " + name + ": applied");
        } catch (ApiException e) {
            tally.count("expressions, " + name + ": refused by the API server");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
