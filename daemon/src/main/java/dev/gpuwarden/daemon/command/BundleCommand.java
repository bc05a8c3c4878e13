package dev.gpuwarden.daemon.command;

import dev.gpuwarden.checks.node.NodePaths;
import dev.gpuwarden.cli.ExitCode;
import dev.gpuwarden.cli.Table;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.daemon.kernlog.KernelLogSettings;
import dev.gpuwarden.daemon.kernlog.KernelLogTail;
import dev.gpuwarden.daemon.reset.DriverRoot;
import dev.gpuwarden.daemon.reset.ResetEvidence;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Keeps evidence about the GPUs of this node. */
@Command(
        name = "bundle",
        mixinStandardHelpOptions = true,
        exitCodeListHeading = "%nExit codes:%n",
        description = {
            "Keep an archive in FOLDER with evidence about the GPUs of this node, for an operator and the vendor: the kernel"
                    + " log about GPUs, nvidia-smi -q, nvidia-bug-report.sh.",
            "A part that cannot be read is named in the archive. The last 8 archives of the folder stay. Needs root.",
            "  gpuwarden bundle /var/lib/gpuwarden/bundles"
        },
        exitCodeList = {
            "0:kept; the place is printed",
            "1:not kept; the cause is printed",
            "2:wrong usage or configuration"
        })
public final class BundleCommand implements Callable<Integer> {

    private static final Pattern NAME = Pattern.compile("[a-z0-9][a-z0-9-]{0,99}");

    @Parameters(paramLabel = "FOLDER", description = "Is created if it does not exist, for root alone.")
    Path folder = Path.of("");

    @Option(
            names = "--name",
            paramLabel = "NAME",
            description = "The archive is bundle-NAME.zip: small letters, digits and dashes (default: the time).")
    @Nullable String name;

    @Mixin
    EvidenceOptions options = new EvidenceOptions();

    @Mixin
    NodePaths paths = new NodePaths();

    @Mixin
    KernelLogSettings kernelLog = new KernelLogSettings();

    @Spec
    CommandSpec spec = CommandSpec.create();

    @Override
    public Integer call() throws InterruptedException {
        kernelLog.validate();
        if (name != null && !NAME.matcher(name).matches()) {
            throw new UserError(
                    "--name: expected up to 100 small letters, digits and dashes, seen '" + Table.escape(name) + "'");
        }
        Optional<DriverRoot> driver =
                Optional.ofNullable(options.program).map(DriverRoot::of).or(DriverRoot::find);
        ResetEvidence.Kept kept = new ResetEvidence(folder, driver, options.longest)
                .keep(
                        Optional.ofNullable(name),
                        List.of(),
                        Optional.empty(),
                        () -> KernelLogTail.read(kernelLog, paths, ResetEvidence::concerns, ResetEvidence.MOST_LINES),
                        Instant.now());
        PrintWriter out = spec.commandLine().getOut();
        out.println(kept.text());
        out.flush();
        return kept.file().isPresent() ? ExitCode.OK : ExitCode.NOT_FIT;
    }
}
