package dev.gpuwarden.aggregator.quarantine;

import dev.gpuwarden.aggregator.breaker.Breaker;
import dev.gpuwarden.aggregator.json.JsonText;
import dev.gpuwarden.aggregator.rules.RuleBook;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Reads a Node, has it decided about, and writes what comes of it. When somebody else has written the Node meanwhile, all is
 * decided anew. Thread-safe; one breaker is asked for one node after the other.
 */
public final class NodeQuarantine {

    private static final int MOST_TRIES = 8;
    private static final int NOT_FOUND = 404;
    private static final int CONFLICT = 409;
    /** What a JSON patch is answered with whose test fails. */
    private static final int INVALID = 422;

    private final KubernetesClient client;
    private final BreakerGate gate;
    private final Clock clock;
    private final Consumer<Audit> audits;

    /** @param audits gets each decision that is going to be written, or would be in a dry run, before it is */
    public NodeQuarantine(KubernetesClient client, BreakerGate gate, Clock clock, Consumer<Audit> audits) {
        this.client = client;
        this.gate = gate;
        this.clock = clock;
        this.audits = audits;
    }

    /**
     * Blocks until the Node is as it must be.
     *
     * @return what was done, or why nothing was
     * @throws KubernetesClientException where the API server cannot be reached, refuses, or others write the Node all the time:
     *     whoever asked tries again later
     */
    public Decision settle(Report report, RuleBook rules, Mode mode) {
        for (int tries = 1; ; tries++) {
            Optional<NodeRead> node = read(report.node());
            if (node.isEmpty()) {
                return new Decision.Leave("there is no Node " + report.node(), false);
            }
            Decision decision = decide(node.get(), report, rules, mode);
            if (!(decision instanceof Decision.Act act) || !act.writes()) {
                return decision;
            }
            try {
                write(node.get().name(), act.patch());
                return decision;
            } catch (KubernetesClientException e) {
                boolean outrun = e.getCode() == CONFLICT || e.getCode() == INVALID && changed(node.get());
                if (!outrun && e.getCode() != NOT_FOUND || tries == MOST_TRIES) {
                    throw e;
                }
            }
        }
    }

    private Decision decide(NodeRead node, Report report, RuleBook rules, Mode mode) {
        synchronized (gate) {
            Breaker.Answer answer = gate.ask(node);
            Decision decision = Quarantine.decide(node, report, rules, answer, mode, clock.instant());
            if (decision instanceof Decision.Act act) {
                if (act.writes() && act.charges()) {
                    // Before the Node: a kill in between charges one too many, never one too few.
                    gate.keep(answer.next());
                }
                audits.accept(act.audit());
            } else if (decision instanceof Decision.Leave leave && leave.refused() && mode == Mode.ARMED) {
                gate.keep(answer.next());
            }
            return decision;
        }
    }

    private Optional<NodeRead> read(String name) {
        @Nullable Node node = client.nodes().withName(name).get();
        if (node == null) {
            return Optional.empty();
        }
        try {
            return Optional.of(NodeRead.of(
                    JsonText.readObject(client.getKubernetesSerialization().asJson(node))));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private boolean changed(NodeRead node) {
        return !read(node.name()).map(NodeRead::resourceVersion).equals(Optional.of(node.resourceVersion()));
    }

    private void write(String name, List<Map<String, Object>> patch) {
        Node unused = client.nodes().withName(name).patch(PatchContext.of(PatchType.JSON), JsonText.write(patch));
    }
}
