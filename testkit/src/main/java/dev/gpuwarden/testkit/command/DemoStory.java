package dev.gpuwarden.testkit.command;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/** The stories of the demo on a cluster of three nodes. Each starts with healthy nodes and leaves them healthy. */
enum DemoStory {
    /** A GPU is lost and comes back. */
    faults,
    /** An operator's pod does not start. */
    operator,
    /** Pods are evicted from a node, all of them or one. */
    drain,
    /** A pod gets a signal before its eviction. */
    checkpoint,
    /** All stories, one after the other. */
    all;

    /** Returns the steps of those stories, in order, after the installation. */
    static List<ClusterDemoRunner.Step> of(Set<DemoStory> stories, StoryReader reader) {
        List<ClusterDemoRunner.Step> play = new ArrayList<>(reader.read("opening"));
        EnumSet.range(faults, checkpoint).stream()
                .filter(story -> stories.contains(all) || stories.contains(story))
                .forEach(story -> play.addAll(reader.read(story.name())));
        return play;
    }
}
