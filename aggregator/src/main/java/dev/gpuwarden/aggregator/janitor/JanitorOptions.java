package dev.gpuwarden.aggregator.janitor;

import dev.gpuwarden.aggregator.janitor.JanitorSettings.RebootProvider;
import dev.gpuwarden.aggregator.pods.SystemNamespaces;
import dev.gpuwarden.aggregator.provider.NodeProvider;
import dev.gpuwarden.aggregator.provider.ProviderOptions;
import dev.gpuwarden.cli.Durations;
import dev.gpuwarden.cli.UserError;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The options for the program that carries out GPUReset, RebootNode and TerminateNode. */
public final class JanitorOptions {

    /** The image of Jobs that are validated and never run. */
    private static final String ASSUMED_IMAGE = "gpuwarden";

    /** The way in which nodes are rebooted. */
    enum Reboot {
        job,
        external,
        command,
        provider
    }

    @Option(
            names = "--janitor.image",
            paramLabel = "IMAGE",
            description = "Image of gpuwarden for the Jobs that reset GPUs and reboot nodes. It acts with"
                    + " --remediation.mode=armed (default: none: another program carries out the resources).")
    @Nullable String image;

    @Option(
            names = "--janitor.lock-namespace",
            paramLabel = "NAMESPACE",
            description = "Namespace of the Leases that lock nodes during maintenance. The one of NVSentinel's janitor"
                    + " makes both wait for each other (default: the aggregator's).")
    @Nullable String lockNamespace;

    @Option(
            names = "--janitor.reboot",
            defaultValue = "job",
            paramLabel = "PROVIDER",
            description = "Way to reboot a node: ${COMPLETION-CANDIDATES}. A Job requests it from the node's systemd;"
                    + " external waits for another program; command runs the program of --janitor.command;"
                    + " provider asks the service of --janitor.provider. The last two also terminate nodes"
                    + " (default: ${DEFAULT-VALUE}).")
    Reboot reboot = Reboot.job;

    @Option(
            names = "--janitor.keep",
            defaultValue = "336h",
            paramLabel = "DURATION",
            description = "Time for which completed maintenance resources are kept (default: ${DEFAULT-VALUE}).")
    Duration keep = Duration.ofDays(14);

    @Mixin
    NodeCommandOptions command = new NodeCommandOptions();

    @Mixin
    ProviderOptions provider = new ProviderOptions();

    @Mixin
    JanitorTimeOptions times = new JanitorTimeOptions();

    /**
     * Returns the settings; empty without an image. Throws {@link UserError} for invalid options.
     *
     * @param namespace namespace of the aggregator, in which the Jobs run
     * @param system namespaces whose pods the drain leaves
     */
    public Optional<JanitorSettings> settings(String namespace, SystemNamespaces system) {
        return image == null || image.isBlank() ? Optional.empty() : Optional.of(settings(image, namespace, system));
    }

    /** Returns the settings. If the options have no image, that of Jobs which never run is assumed. */
    public JanitorSettings assumed(String namespace, SystemNamespaces system) {
        return settings(image == null ? ASSUMED_IMAGE : image, namespace, system);
    }

    private JanitorSettings settings(String ofJobs, String namespace, SystemNamespaces system) {
        if (keep.isNegative() || keep.isZero()) {
            throw new UserError("--janitor.keep must be above 0, but was " + Durations.text(keep));
        }
        var unused = provider.address(reboot == Reboot.provider);
        return new JanitorSettings(
                namespace,
                lockNamespace(namespace),
                ofJobs,
                RebootProvider.valueOf(reboot.name().toUpperCase(Locale.ROOT)),
                command.command(reboot == Reboot.command),
                system,
                times.times(keep));
    }

    /** Returns the provider of reboots and terminations. Throws {@link UserError} for invalid options. */
    NodeProvider provider() {
        return provider.provider(reboot == Reboot.provider);
    }

    /** @param namespace namespace of the aggregator */
    public String lockNamespace(String namespace) {
        return lockNamespace == null ? namespace : lockNamespace;
    }
}
