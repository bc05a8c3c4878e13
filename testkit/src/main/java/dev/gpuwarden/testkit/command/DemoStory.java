package dev.gpuwarden.testkit.command;

import static dev.gpuwarden.testkit.command.ClusterDemoCheck.health;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;

/** What may happen on a cluster of three nodes. Each begins with fit nodes and leaves them so. */
enum DemoStory {
    /** A GPU is lost and comes back. */
    faults(FaultStory::of),
    /** An operator's pod does not come up. */
    operator(OperatorStory::of),
    /** Pods leave a node, all of them or one. */
    drain(DrainStory::of),
    /** A pod is told before it has to leave. */
    checkpoint(CheckpointStory::of),
    /** All that there are, one after the other. */
    all(environment -> List.of());

    private final Function<ClusterDemoEnvironment, List<ClusterDemoStep>> steps;

    DemoStory(Function<ClusterDemoEnvironment, List<ClusterDemoStep>> steps) {
        this.steps = steps;
    }

    /** Acts of those stories, in order, with what comes before all of them. */
    static List<ClusterDemoStep> of(Set<DemoStory> stories, ClusterDemoEnvironment environment) {
        List<ClusterDemoStep> play = new ArrayList<>(opening(environment));
        (stories.contains(all) ? EnumSet.allOf(DemoStory.class) : EnumSet.copyOf(stories))
                .forEach(story -> play.addAll(story.steps.apply(environment)));
        return play;
    }

    private static List<ClusterDemoStep> opening(ClusterDemoEnvironment environment) {
        return List.of(
                ClusterDemoStep.of(
                        "the nodes are given a container image, which comes from no registry",
                        0,
                        environment::loadImage),
                ClusterDemoStep.of(
                        "aggregator and daemons are installed, and nodes report",
                        120,
                        () -> {
                            environment.applySettings();
                            environment.run("kubectl apply --kustomize kubernetes-simulated");
                            environment.run("gpuwarden-certificates | kubectl apply --filename -");
                        },
                        health("node-1 +Healthy"),
                        health("node-2 +Healthy"),
                        health("node-3 +Healthy")),
                ClusterDemoStep.of(
                        "rules say which faults take a node out of service; a label, which nodes the breaker counts",
                        30,
                        () -> {
                            environment.run("kubectl label nodes --all nvidia.com/gpu.present=true");
                            environment.run("kubectl apply --filename kubernetes/quarantine-rules.yaml");
                        },
                        ClusterDemoCheck.of("kubectl get quarantinerulesets", "^syslog-fatal .*True")),
                ClusterDemoStep.of(
                        "the page is for whoever may look, with a Kubernetes token for a password",
                        30,
                        () -> environment.apply("visitor.yaml"),
                        ClusterDemoCheck.page("", "nobody: 401"),
                        ClusterDemoCheck.page("", "stranger: 401"),
                        ClusterDemoCheck.page("", "visitor: 200 text/html")));
    }
}
