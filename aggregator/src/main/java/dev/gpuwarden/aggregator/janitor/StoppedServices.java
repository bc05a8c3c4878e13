package dev.gpuwarden.aggregator.janitor;

import dev.gpuwarden.aggregator.janitor.Progress.Service;
import dev.gpuwarden.aggregator.janitor.Scene.NodeFacts;
import dev.gpuwarden.aggregator.janitor.Step.SetLabels.Label;
import dev.gpuwarden.aggregator.maintenance.MaintenanceKind;
import dev.gpuwarden.aggregator.maintenance.ServiceLabels;
import java.util.List;
import java.util.Optional;

/** The services that a reset has stopped, by the labels that its Node has now. Pure. */
final class StoppedServices {

    private StoppedServices() {}

    /** Returns the step that starts them again; empty if there are none, or the Node is another one. */
    static Optional<Step> start(Scene scene) {
        boolean recorded = scene.progress().isRecorded();
        Optional<NodeFacts> node = recorded ? scene.sameNode() : scene.node();
        if (node.isEmpty() || scene.resource().kind() != MaintenanceKind.GPU_RESET) {
            return Optional.empty();
        }
        return start(node.get(), recorded ? scene.progress().services() : all());
    }

    /** Returns the step that starts those of these services again that the labels of the Node stop. */
    static Optional<Step> start(NodeFacts node, List<Service> services) {
        List<Label> down = services.stream()
                .filter(each -> MaintenanceKind.PAUSED.equals(node.labels().get(each.label())))
                .map(each -> new Label(each.label(), MaintenanceKind.PAUSED, each.value()))
                .toList();
        return down.isEmpty() ? Optional.empty() : Optional.of(new Step.SetLabels(node, down));
    }

    /** Returns the services of a reset whose record is lost, with the only value that deploys a service. */
    private static List<Service> all() {
        return ServiceLabels.LABELS.stream()
                .map(label -> new Service(label, ServiceLabels.DEPLOYED, 0))
                .toList();
    }
}
