package dev.gpuwarden.testkit.command;

import static dev.gpuwarden.testkit.command.ClusterDemoCheck.health;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;

/** The stories of the demo on a cluster of three nodes. Each starts with healthy nodes and leaves them healthy. */
enum DemoStory {
    /** A GPU is lost and comes back. */
    faults(FaultStory::of),
    /** An operator's pod does not start. */
    operator(OperatorStory::of),
    /** Pods are evicted from a node, all of them or one. */
    drain(DrainStory::of),
    /** A pod gets a signal before its eviction. */
    checkpoint(CheckpointStory::of),
    /** All stories, one after the other. */
    all(environment -> List.of());

    private final Function<ClusterDemoEnvironment, List<ClusterDemoStep>> steps;

    DemoStory(Function<ClusterDemoEnvironment, List<ClusterDemoStep>> steps) {
        this.steps = steps;
    }

    /** Returns the steps of those stories, in order, after the installation. */
    static List<ClusterDemoStep> of(Set<DemoStory> stories, ClusterDemoEnvironment environment) {
        List<ClusterDemoStep> play = new ArrayList<>(opening(environment));
        (stories.contains(all) ? EnumSet.allOf(DemoStory.class) : EnumSet.copyOf(stories))
                .forEach(story -> play.addAll(story.steps.apply(environment)));
        return play;
    }

    private static List<ClusterDemoStep> opening(ClusterDemoEnvironment environment) {
        return List.of(
                ClusterDemoStep.of("the nodes load a container image, without a registry", 0, environment::loadImage),
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
                        "rules define the faults that take a node out of service, a label the nodes that the breaker counts",
                        30,
                        () -> {
                            environment.run("kubectl label nodes --all nvidia.com/gpu.present=true");
                            environment.run("kubectl apply --filename kubernetes/quarantine-rules.yaml");
                        },
                        ClusterDemoCheck.of("kubectl get quarantinerulesets", "^syslog-fatal .*True")),
                ClusterDemoStep.of(
                        "the page admits users with the right to read, with a Kubernetes token as the password",
                        30,
                        () -> environment.apply("visitor.yaml"),
                        ClusterDemoCheck.page("", "anonymous: 401"),
                        ClusterDemoCheck.page("", "stranger: 401"),
                        ClusterDemoCheck.page("", "visitor: 200 text/html")));
    }
}
