package dev.gpuwarden.daemon.vram.kube;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.watchdog.budget.AdvertisedBudget;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class AdvertiserTest {

    private final List<OptionalLong> reported = new ArrayList<>();

    private List<OptionalLong> run(boolean advertises, AdvertisedBudget amount) {
        reported.clear();
        new Advertiser((mib, card) -> reported.add(mib), advertises, () -> amount).run();
        return reported;
    }

    @Test
    void theAmountOfTheNodeIsReported() {
        assertThat(run(true, new AdvertisedBudget.Value(14000, List.of()))).containsExactly(OptionalLong.of(14000));
        assertThat(run(true, new AdvertisedBudget.None("the node has no GPU"))).containsExactly(OptionalLong.empty());
        assertThat(run(true, new AdvertisedBudget.Value(0, List.of())))
                .as("a Node cannot have 0")
                .containsExactly(OptionalLong.empty());
    }

    @Test
    void anUnknownOrRefusedAmountLeavesTheLastOne() {
        assertThat(run(true, new AdvertisedBudget.Unknown("the driver does not answer")))
                .isEmpty();
        assertThat(run(true, new AdvertisedBudget.Refused("the floor is larger than the card")))
                .isEmpty();
    }

    @Test
    void aNodeThatDoesNotAdvertiseRemovesItsAmount() {
        assertThat(run(false, new AdvertisedBudget.Value(14000, List.of()))).containsExactly(OptionalLong.empty());
    }
}
