package dev.gpuwarden.testkit.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.testkit.command.ClusterDemoRunner.ClusterDemoCheck;
import dev.gpuwarden.testkit.command.StoryReader.DemoStory;
import java.util.EnumSet;
import java.util.List;
import org.junit.jupiter.api.Test;

class StoryReaderTest {

    /** The actions are read, and not run. */
    @SuppressWarnings("NullAway")
    private final StoryReader reader = new StoryReader(ClusterDemoEnvironment.Pace.FAST, null);

    @Test
    void everyStoryHasKnownActionsAndCommands() {
        List<ClusterDemoRunner.Step> all = DemoStory.of(EnumSet.of(DemoStory.all), reader);
        assertThat(all).hasSize(41);
        assertThat(all)
                .extracting(ClusterDemoRunner.Step::title)
                .anyMatch(title -> title.contains("after 10 s instead"));
        assertThat(all.stream().mapToInt(step -> step.checks().size()).sum()).isEqualTo(168);
    }

    @Test
    void checkHasCommandAndLine() {
        ClusterDemoCheck last = reader.read("checkpoint").get(4).checks().get(0);
        assertThat(last.command()).startsWith("kubectl get pods --output ");
        assertThat(last.expected().line().pattern()).isEqualTo("(?m)^saver-");
        assertThat(last.expected().shown()).isFalse();
    }
}
