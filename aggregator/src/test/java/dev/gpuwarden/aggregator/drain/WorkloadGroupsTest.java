package dev.gpuwarden.aggregator.drain;

import static dev.gpuwarden.aggregator.drain.Some.NOW;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.drain.DrainPlan.PodPlan;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class WorkloadGroupsTest {

    private final List<String> again = new ArrayList<>();
    private final WorkloadGroups together = new WorkloadGroups(again::add);

    /** Returns the plan of a pod whose node's drain began at this time. */
    private static List<PodPlan> plan(String owner, Instant began) {
        String pod = Some.pod("p").replace("\"kind\": \"ReplicaSet\"", "\"kind\": \"Job\", \"uid\": \"" + owner + "\"");
        DrainAnnotation drain =
                DrainAnnotation.NONE.with(new DrainRequest(true, java.util.Set.of(), false, "Xid"), began);
        return DrainPlan.of(drain, List.of(Some.read(pod)), Map.of(), Some.policies("*=DeleteAfterTimeout"), began);
    }

    private Instant at(String node, List<PodPlan> plan) {
        return together.of(node, plan).get(0).at().orElseThrow();
    }

    @Test
    void podsOfAJobLeaveAtTheEarliestDeadline() {
        List<PodPlan> late = plan("job", NOW.plusSeconds(600));
        List<PodPlan> early = plan("job", NOW);
        Instant first = NOW.plusSeconds(3600);
        assertThat(at("b", late)).isEqualTo(NOW.plusSeconds(4200));
        assertThat(again).isEmpty();
        assertThat(at("a", early)).isEqualTo(first);
        assertThat(again).as("its pods have to go sooner").containsExactly("b");
        assertThat(at("b", late)).isEqualTo(first);
        assertThat(together.of("b", late).get(0).reason()).contains("with others of its Job on other nodes");
        assertThat(at("a", early)).isEqualTo(first);
        assertThat(again).as("nothing is new").containsExactly("b");
        together.forget("a");
        assertThat(at("b", late)).as("no other node is drained any more").isEqualTo(NOW.plusSeconds(4200));
    }

    @Test
    void podsOfOtherControllersKeepTheirDeadlines() {
        List<PodPlan> alone = plan("", NOW.plusSeconds(600));
        assertThat(at("a", plan("job", NOW))).isEqualTo(NOW.plusSeconds(3600));
        assertThat(at("b", plan("other", NOW.plusSeconds(600)))).isEqualTo(NOW.plusSeconds(4200));
        assertThat(at("b", alone)).isEqualTo(NOW.plusSeconds(4200));
        assertThat(again).isEmpty();
    }
}
