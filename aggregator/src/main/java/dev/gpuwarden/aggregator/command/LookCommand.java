package dev.gpuwarden.aggregator.command;

import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.fleet.FleetReader;
import java.time.Clock;
import java.util.Map;
import picocli.CommandLine.Mixin;

/** A command that looks at nodes and at what decides about them. */
abstract class LookCommand extends ClusterCommand {

    @Mixin
    final BreakerOptions breaker = new BreakerOptions();

    LookCommand(Map<String, String> environment, Clock clock) {
        super(environment, clock);
    }

    FleetReader reader(KubeClient api) {
        return new FleetReader(api, breaker.namespace(), breaker.given());
    }
}
