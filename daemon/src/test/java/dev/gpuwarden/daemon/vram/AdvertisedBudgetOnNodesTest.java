package dev.gpuwarden.daemon.vram;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.checks.node.NodePaths;
import dev.gpuwarden.checks.node.PciBus;
import dev.gpuwarden.checks.telemetry.NodeSampler;
import dev.gpuwarden.checks.telemetry.SamplingSettings;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.port.DriverProvider;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import dev.gpuwarden.watchdog.budget.AdvertisedBudget;
import dev.gpuwarden.watchdog.budget.AdvertisedBudget.Rules;
import dev.gpuwarden.watchdog.budget.AdvertisedBudget.Share;
import dev.gpuwarden.watchdog.budget.AdvertisedBudget.Unknown;
import dev.gpuwarden.watchdog.budget.AdvertisedBudget.Value;
import dev.gpuwarden.watchdog.pressure.PressureRules;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.ServiceLoader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The amount to advertise, from simulated drivers. */
class AdvertisedBudgetOnNodesTest {

    private static final Rules RULES = new Rules(PressureRules.DEFAULT, 0, Optional.empty());

    @ParameterizedTest
    @CsvSource({"t4, 1, 13431", "h200x8, 8, 1132280", "a100-mig, 5, 154148"})
    void everyCardHasAShare(String scenario, int cards, long mebibytes) {
        Value value = (Value) advertised(scenario);
        assertThat(value.cards()).hasSize(cards).allMatch(share -> share.mebibytes() > 0);
        assertThat(value.mebibytes()).isEqualTo(mebibytes);
    }

    @Test
    void partitionsAreCardsOfTheirOwn() {
        Value value = (Value) advertised("a100-mig");
        assertThat(value.cards().stream().map(share -> share.card().name()).filter(name -> name.startsWith("MIG-")))
                .hasSize(4);
    }

    @Test
    void aLostGpuGivesNothing() {
        Value value = (Value) advertised("gpu-lost");
        assertThat(value.cards().stream().map(Share::mebibytes).filter(share -> share == 0))
                .hasSize(1);
        assertThat(value.cards()).hasSize(8);
    }

    @Test
    void withoutADriverNothingIsKnown() {
        assertThat(advertised("no-driver")).isInstanceOf(Unknown.class);
    }

    private static AdvertisedBudget advertised(String scenario) {
        try (SimulatedNode node = SimulatedNode.start(scenario)) {
            DriverProvider provider =
                    ServiceLoader.load(DriverProvider.class).findFirst().orElseThrow();
            PciBus bus = new PciBus(NodePaths.of(node.procfs(), node.sysfs(), Path.of("/nonexistent")));
            Duration interval = Duration.ofMillis(100);
            SamplingSettings settings = SamplingSettings.of(interval, interval, interval, interval)
                    .withLibraryPath(node.libraryPath().toString());
            try (NodeSampler sampler = new NodeSampler(provider, settings, bus)) {
                sampler.start();
                sampler.awaitFirst(Duration.ofSeconds(10));
                NodeSnapshot seen = sampler.snapshot();
                return AdvertisedBudget.of(seen, RULES);
            }
        }
    }
}
