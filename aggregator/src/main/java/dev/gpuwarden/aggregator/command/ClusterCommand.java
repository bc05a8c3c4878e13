package dev.gpuwarden.aggregator.command;

import dev.gpuwarden.aggregator.breaker.BreakerOptions;
import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.fleet.FleetReader;
import dev.gpuwarden.cli.ExitCode;
import dev.gpuwarden.cli.Output;
import dev.gpuwarden.cli.Table;
import dev.gpuwarden.cli.run.Logging;
import java.io.PrintWriter;
import java.time.Clock;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import java.util.logging.Level;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** A command that reads or changes a cluster once. */
abstract class ClusterCommand implements Callable<Integer> {

    private final Map<String, String> environment;
    final Clock clock;

    @Mixin
    final KubeOptions kube = new KubeOptions();

    @Mixin
    final Output output = new Output();

    @Spec
    CommandSpec spec = CommandSpec.create();

    ClusterCommand(Map<String, String> environment, Clock clock) {
        this.environment = environment;
        this.clock = clock;
    }

    /** @return an exit code */
    abstract int ask(KubeClient api) throws ApiException, InterruptedException;

    @Override
    public Integer call() throws InterruptedException {
        // Log lines of the Kubernetes client would disturb the command's output.
        Logging.install(Level.SEVERE);
        try (KubeClient api = kube.connect(environment)) {
            return ask(api);
        } catch (ApiException e) {
            return undecided(e.getMessage());
        }
    }

    int undecided(@org.jspecify.annotations.Nullable String why) {
        PrintWriter err = spec.commandLine().getErr();
        err.println("gpuwarden: " + Table.escape(String.valueOf(why)));
        err.flush();
        return ExitCode.UNDECIDED;
    }

    void show(Object tree, Consumer<PrintWriter> table) {
        output.write(spec.commandLine().getOut(), tree, table);
    }

    /** A command that reads nodes and the state that decisions about them depend on. */
    abstract static class ReadCommand extends ClusterCommand {

        @Mixin
        final BreakerOptions breaker = new BreakerOptions();

        ReadCommand(Map<String, String> environment, Clock clock) {
            super(environment, clock);
        }

        FleetReader reader(KubeClient api) {
            return new FleetReader(api, breaker.namespace(), breaker.given());
        }
    }
}
