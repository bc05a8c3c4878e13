package dev.gpuwarden.benchmarks;

import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.Json;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.benchmarks.Attackers.AttackTally;
import dev.gpuwarden.benchmarks.Attackers.AttackTargets;
import dev.gpuwarden.testkit.cel.RandomExpressions;
import io.fabric8.kubernetes.client.Config;
import java.io.IOException;
import java.io.UncheckedIOException;
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
        apply("quarantinerulesets", "QuarantineRuleSet", "hostile", expression, """
                {"match": {"all": [{"kind": "HealthEvent", "expression": EXPRESSION}]}, "cordon": {"shouldCordon": true}}""");
    }

    private String endless() {
        return LONG + ".all(a, " + LONG + ".all(b, " + LONG + ".all(c, " + LONG
                + ".all(d, resource.metadata.name.replace('d', 'aaaaaaaaaaaaaaaaaaaa').matches('(a+)+b" + next()
                + "') == false))))";
    }

    /** Applies a policy for the kind of the good policy, so that one thread evaluates both. */
    private void policy(String name, String predicate) {
        apply("monitorpolicies", "MonitorPolicy", name, predicate, """
                {"resource": {"group": "", "version": "v1", "kind": "Pod"}, "predicate": {"expression": EXPRESSION},
                 "nodeAssociation": {"expression": "resource.spec.nodeName"},
                 "healthEvent": {"componentClass": "Software", "isFatal": false, "message": "a stranger's policy",
                  "errorCode": ["STRANGE"]}}""");
    }

    /** @param spec JSON with the word EXPRESSION in place of the expression */
    private void apply(String resource, String kind, String name, String expression, String spec) {
        try {
            Map<String, Object> body = Map.of(
                    "apiVersion",
                    API,
                    "kind",
                    kind,
                    "metadata",
                    Map.of("name", name),
                    "spec",
                    Json.readObject(spec.replace("EXPRESSION", Json.write(expression))));
            var unused = api.apply(PATH + "/" + resource + "/" + name, "attack", body);
            tally.count("expressions, " + name + ": applied");
        } catch (ApiException e) {
            tally.count("expressions, " + name + ": refused by the API server");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
