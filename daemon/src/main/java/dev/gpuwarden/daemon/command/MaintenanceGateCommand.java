package dev.gpuwarden.daemon.command;

import dev.gpuwarden.cli.ExitCode;
import dev.gpuwarden.cli.UserError;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Tests again just before the act of a maintenance resource, for programs of other languages. Not for users. */
@Command(
        name = "maintenance-gate",
        hidden = true,
        mixinStandardHelpOptions = true,
        description = "Test just before an act of maintenance that its reason still holds; for Jobs of the aggregator.",
        exitCodeList = {"0:act now", "2:wrong usage", "4:withhold the act: its reason no longer holds"})
public final class MaintenanceGateCommand implements Callable<Integer> {

    /** The start of the text about an act that is withheld, by which the janitor finds it. */
    static final String WITHHELD = "withheld: ";

    @Mixin
    GateOptions gate = new GateOptions();

    @Spec
    CommandSpec spec = CommandSpec.create();

    @Override
    public Integer call() throws InterruptedException {
        if (!gate.given()) {
            throw new UserError("expected --maintenance.resource and the options beside it, seen none");
        }
        Optional<String> refusal = gate.refusal();
        refusal.ifPresent(why -> spec.commandLine().getErr().println("gpuwarden: " + WITHHELD + why));
        return refusal.isPresent() ? ExitCode.WITHHELD : ExitCode.OK;
    }
}
