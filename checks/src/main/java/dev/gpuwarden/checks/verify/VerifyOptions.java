package dev.gpuwarden.checks.verify;

import picocli.CommandLine.Option;

/** The setting of the checks that must pass after a boot. */
public final class VerifyOptions {

    @Option(
            names = "--repair.verify",
            defaultValue = "invasive",
            paramLabel = "CHECKS",
            description =
                    "Checks of a GPU after a boot that ends its fatal fault: passive (those that the daemon runs), or"
                            + " invasive (also the ones that give work to this GPU alone, once it is free; up to some"
                            + " minutes) (default: ${DEFAULT-VALUE}).")
    RepairChecks checks = RepairChecks.invasive;

    public RepairChecks checks() {
        return checks;
    }
}
