package dev.gpuwarden.testkit.command;

import static dev.gpuwarden.testkit.command.ClusterLook.health;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;

/** What may happen on a cluster of three nodes. Each begins with fit nodes and leaves them so. */
enum ClusterStory {
    /** A GPU is lost and comes back. */
    faults(FaultStory::of),
    /** An operator's pod does not come up. */
    operator(OperatorStory::of),
    /** Pods leave a node, all of them or one. */
    drain(DrainStory::of),
    /** A pod is told before it has to leave. */
    checkpoint(CheckpointStory::of),
    /** All that there are, one after the other. */
    all(stage -> List.of());

    private final Function<ClusterStage, List<ClusterAct>> acts;

    ClusterStory(Function<ClusterStage, List<ClusterAct>> acts) {
        this.acts = acts;
    }

    /** Acts of those stories, in order, with what comes before all of them. */
    static List<ClusterAct> of(Set<ClusterStory> stories, ClusterStage stage) {
        List<ClusterAct> play = new ArrayList<>(opening(stage));
        (stories.contains(all) ? EnumSet.allOf(ClusterStory.class) : EnumSet.copyOf(stories))
                .forEach(story -> play.addAll(story.acts.apply(stage)));
        return play;
    }

    private static List<ClusterAct> opening(ClusterStage stage) {
        return List.of(
                ClusterAct.of(
                        "the nodes are given a container image, which comes from no registry", 0, stage::loadImage),
                ClusterAct.of(
                        "aggregator and daemons are installed, and nodes report",
                        120,
                        () -> {
                            stage.applySettings();
                            stage.run("kubectl apply --kustomize kubernetes-simulated");
                            stage.run("gpuwarden-certificates | kubectl apply --filename -");
                        },
                        health("node-1 +Healthy"),
                        health("node-2 +Healthy"),
                        health("node-3 +Healthy")),
                ClusterAct.of(
                        "rules say which faults take a node out of service; a label, which nodes the breaker counts",
                        30,
                        () -> {
                            stage.run("kubectl label nodes --all nvidia.com/gpu.present=true");
                            stage.run("kubectl apply --filename kubernetes/quarantine-rules.yaml");
                        },
                        ClusterLook.of("kubectl get quarantinerulesets", "^syslog-fatal .*True")),
                ClusterAct.of(
                        "the page is for whoever may look, with a Kubernetes token for a password",
                        30,
                        () -> stage.apply("visitor.yaml"),
                        ClusterLook.page("", "nobody: 401"),
                        ClusterLook.page("", "stranger: 401"),
                        ClusterLook.page("", "visitor: 200 text/html")));
    }
}
