package dev.gpuwarden.daemon.kube;

import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.core.model.Identifiers;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.time.Clock;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options for writing this node's state to Kubernetes. */
public final class KubernetesOptions {

    private static final System.Logger LOG = System.getLogger(KubernetesOptions.class.getName());

    /** The parts that can be written. */
    public enum Part {
        none,
        conditions,
        events,
        labels
    }

    /** The names that Kubernetes accepts (RFC 1123). */
    private static final Pattern NODE = Pattern.compile("[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?");

    @Option(
            names = "--kubernetes.write",
            split = ",",
            paramLabel = "WHAT",
            description =
                    "Write these of this node to the Kubernetes API, where no aggregator does: conditions, events,"
                            + " labels (default: none).")
    List<Part> write = List.of();

    @Option(
            names = "--kubernetes.kubeconfig",
            paramLabel = "FILE",
            description = "Address and credentials for the API server (default: the ServiceAccount of the pod).")
    @Nullable Path kubeconfig;

    @Option(
            names = "--kubernetes.node",
            paramLabel = "NAME",
            description = "The name of this node's Node (default: --node.name).")
    @Nullable String node;

    @Option(
            names = "--kubernetes.dry-run",
            description = "Have the API server check what would be written, and log it; nothing is changed.")
    boolean dryRun;

    /**
     * Returns the connection; empty if no part is written, and none is needed for VRAM budgets.
     *
     * @param aggregator true if this node reports to an aggregator, which writes all parts then
     * @param budgets true if pods of this node are held to VRAM budgets
     * @throws UserError if the options or the kubeconfig are not usable; certificates, keys and tokens may be added
     *     later
     */
    public Optional<KubernetesNode> connect(String nodeName, boolean aggregator, boolean budgets) {
        return connect(nodeName, aggregator, budgets, System.getenv(), KubeAccess.SERVICE_ACCOUNT);
    }

    Optional<KubernetesNode> connect(
            String nodeName, boolean aggregator, boolean budgets, Map<String, String> environment, Path account) {
        boolean ownAccount = budgets && !aggregator;
        Set<Part> parts = EnumSet.noneOf(Part.class);
        parts.addAll(write);
        boolean off = parts.remove(Part.none);
        if (off && !parts.isEmpty()) {
            throw new UserError("--kubernetes.write: none does not go together with " + new TreeSet<>(parts));
        }
        if (parts.isEmpty() && !ownAccount) {
            if (!off && (kubeconfig != null || node != null || dryRun)) {
                throw new UserError("--kubernetes.kubeconfig, --kubernetes.node and --kubernetes.dry-run are of no use"
                        + " without --kubernetes.write, and without --vram.pods=on or --vram.advertise=on");
            }
            return Optional.empty();
        }
        if (aggregator) {
            throw new UserError("--kubernetes.write does not go together with --uplink.address: where there is an"
                    + " aggregator, conditions, Events and labels are its alone");
        }
        KubeAccess access = access(environment, account, parts.isEmpty());
        return Optional.of(new KubernetesNode(name(nodeName), parts, dryRun, access, Clock.systemUTC()));
    }

    /** Returns the Node's name; as in the kubelet, the default is the host name in lower case. */
    private String name(String nodeName) {
        String name = node == null ? Identifiers.node(nodeName) : node.trim();
        if (!NODE.matcher(name).matches()) {
            throw new UserError(
                    "--kubernetes.node must be the name of a Node, one of `kubectl get nodes`, but is '" + name + "'");
        }
        return name;
    }

    private KubeAccess access(Map<String, String> environment, Path account, boolean forBudgets) {
        String what = forBudgets
                ? "--vram.pods=on and --vram.advertise=on need an aggregator (--uplink.address) or an account"
                : "--kubernetes.write";
        KubeAccess access = kubeconfig != null
                ? Kubeconfig.read(kubeconfig)
                : KubeAccess.ofPod(environment, account)
                        .orElseThrow(() -> new UserError(what + ": this is no pod with a ServiceAccount (no "
                                + account.resolve("token")
                                + " or no KUBERNETES_SERVICE_HOST); give --kubernetes.kubeconfig"));
        try {
            access.tryFiles();
        } catch (IOException e) {
            // A kubelet that has not joined yet has no credentials; GPUs are monitored nevertheless.
            LOG.log(Level.WARNING, what + ": " + e.getMessage() + "; nothing is written until that is corrected");
        }
        return access;
    }
}
