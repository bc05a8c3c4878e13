package dev.gpuwarden.aggregator.command;

import dev.gpuwarden.aggregator.cluster.ClusterApi;
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

    ClusterReader reader(ClusterApi api) {
        return new ClusterReader(api, breaker.namespace(), breaker.given());
    }
}
