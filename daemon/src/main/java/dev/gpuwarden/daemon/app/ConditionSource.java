package dev.gpuwarden.daemon.app;

import dev.gpuwarden.checks.CheckRunner;
import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.daemon.kube.KubernetesNode;
import dev.gpuwarden.daemon.kube.NodeReconciler;
import dev.gpuwarden.daemon.store.EventStore;
import java.util.List;

/** The faults and check results that the node's conditions in Kubernetes are written from. */
record ConditionSource(EventStore store, CheckRunner runner) implements NodeReconciler.NodeStatusSource {

    /** Starts writing the Node, and writes again whenever faults or results change. */
    static void keep(KubernetesNode kubernetes, DaemonParts parts) {
        NodeReconciler writer = parts.closer.add(kubernetes.start(new ConditionSource(parts.store, parts.checks)));
        parts.closer.add(parts.store.listen(change -> writer.wake()));
        parts.checks.onResults(writer::wake);
    }

    @Override
    public List<Fault> faults() {
        return store.faults();
    }

    @Override
    public List<CheckResult> results() {
        return runner.results();
    }

    @Override
    public boolean complete() {
        return runner.results().size() == runner.checks().size();
    }
}
