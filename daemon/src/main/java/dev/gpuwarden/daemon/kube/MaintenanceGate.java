package dev.gpuwarden.daemon.kube;

import static dev.gpuwarden.core.util.JsonTrees.object;
import static dev.gpuwarden.core.util.JsonTrees.text;

import dev.gpuwarden.api.kube.DriverUpgrade;
import dev.gpuwarden.api.kube.ForeignJanitor;
import dev.gpuwarden.core.util.JsonTrees;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;

/**
 * The test just before the act of a maintenance resource on this node. A Job can wait for long between its start and its act, and
 * others act in that time. So it reads again that the Node is the same and cordoned, that the resource has the lock of the node, and
 * that the resource is still in progress. An answer that is missing is a refusal.
 */
public final class MaintenanceGate {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final long PAUSE_NANOS = 1_000_000_000;
    private static final int TOO_MANY = 429;
    private static final int NOT_FOUND = 404;
    private static final String DELETED = "deletionTimestamp";

    /**
     * The act to test.
     *
     * @param plural kind of the resource, for example `gpuresets`
     * @param name name of the resource
     * @param uid UID of the resource, and of the owner of the lock
     * @param generation generation of the spec that is carried out
     * @param node name of the Node, and of its Lease
     * @param nodeUid UID of the Node for which the action began
     * @param locks namespace of the Leases
     */
    public record Act(
            String plural, String name, String uid, long generation, String node, String nodeUid, String locks) {

        String resource() {
            return plural + "/" + name;
        }

        List<String> paths() {
            return List.of(
                    ApiRequest.ALL_NODES + "/" + node,
                    "/apis/coordination.k8s.io/v1/namespaces/" + locks + "/leases/" + node,
                    "/apis/janitor.dgxc.nvidia.com/v1alpha1/" + resource());
        }
    }

    private final Act act;
    private final Optional<KubeAccess> access;
    private final Duration patience;

    /** Creates a gate that reads with the ServiceAccount of this pod. */
    public MaintenanceGate(Act act) {
        this(act, KubeAccess.ofPod(System.getenv(), KubeAccess.SERVICE_ACCOUNT), PATIENCE);
    }

    /** @param access empty without a ServiceAccount */
    MaintenanceGate(Act act, Optional<KubeAccess> access, Duration patience) {
        this.act = act;
        this.access = access;
        this.patience = patience;
    }

    /**
     * Returns the reason why the act must not happen now; empty if it may. Blocks for the API server, for 60 s if it is busy or
     * cannot be reached.
     */
    public Optional<String> refusal() throws InterruptedException {
        if (access.isEmpty()) {
            return Optional.of("expected the token of a ServiceAccount in " + KubeAccess.SERVICE_ACCOUNT
                    + ", to read the Node again, seen none; apply the component remediation-armed");
        }
        try (KubeClient client = new KubeClient(access.get(), true, Clock.systemUTC(), new KubeCounters())) {
            long begin = System.nanoTime();
            while (true) {
                try {
                    return read(client);
                } catch (KubeException e) {
                    boolean passes = e.status() == 0 || e.status() == TOO_MANY || e.status() >= 500;
                    if (!passes || System.nanoTime() - begin >= patience.toNanos()) {
                        return Optional.of("Node " + act.node() + " cannot be read again: " + e.getMessage());
                    }
                    LockSupport.parkNanos(PAUSE_NANOS);
                    if (Thread.interrupted()) {
                        throw new InterruptedException();
                    }
                }
            }
        }
    }

    private Optional<String> read(KubeClient client) throws KubeException, InterruptedException {
        List<Map<?, ?>> read = new ArrayList<>();
        for (String path : act.paths()) {
            try {
                read.add(client.ask(ApiRequest.get(ApiRequest.Kind.maintenance, path))
                        .orElse(Map.of()));
            } catch (KubeException e) {
                if (e.status() != NOT_FOUND) {
                    throw e;
                }
                read.add(Map.of());
            }
        }
        return refusal(act, read.get(0), read.get(1), read.get(2));
    }

    /** Returns the reason why the act must not happen; empty if it may. An object that does not exist is empty. Pure. */
    static Optional<String> refusal(Act act, Map<?, ?> node, Map<?, ?> lease, Map<?, ?> resource) {
        String which = "Node " + act.node() + ": expected ";
        Map<?, ?> metadata = object(node, "metadata");
        String uid = text(metadata, "uid");
        if (!uid.equals(act.nodeUid())) {
            return Optional.of(which + "UID " + act.nodeUid() + ", seen " + seen(uid) + ": it was created again");
        }
        if (!JsonTrees.isTrue(object(node, "spec"), "unschedulable")) {
            return Optional.of(which + "a cordoned Node, seen one without a cordon");
        }
        Map<String, String> labels = new HashMap<>();
        object(metadata, "labels").forEach((key, value) -> labels.put(key, String.valueOf(value)));
        Optional<String> upgrade = DriverUpgrade.underWay(labels);
        if (upgrade.isPresent() && !act.plural().equals("terminatenodes")) {
            return Optional.of("Node " + act.node() + ": " + upgrade.get());
        }
        Map<?, ?> lock = object(lease, "metadata");
        List<Map<String, Object>> owners = JsonTrees.objects(lock, "ownerReferences");
        if (owners.size() != 1 || !text(owners.get(0), "uid").equals(act.uid()) || lock.containsKey(DELETED)) {
            return Optional.of(which + "its lock to be held by " + act.resource() + ", seen "
                    + seen(String.join(
                            ", ", owners.stream().map(MaintenanceGate::owner).toList())));
        }
        return ofResource(act, resource);
    }

    private static String owner(Map<?, ?> reference) {
        return text(reference, "kind") + " " + text(reference, "name");
    }

    private static String seen(String text) {
        return text.isEmpty() ? "none" : text;
    }

    private static Optional<String> ofResource(Act act, Map<?, ?> resource) {
        String which = act.resource() + ": expected ";
        Map<?, ?> metadata = object(resource, "metadata");
        Map<?, ?> status = object(resource, "status");
        if (!text(metadata, "uid").equals(act.uid())) {
            return Optional.of(which + "UID " + act.uid() + ", seen " + seen(text(metadata, "uid")));
        }
        if (metadata.containsKey(DELETED)) {
            return Optional.of(which + "it to stay, seen its deletion");
        }
        if (!Long.toString(act.generation()).equals(String.valueOf(metadata.get("generation")))) {
            return Optional.of(
                    which + "the spec of generation " + act.generation() + ", seen " + metadata.get("generation"));
        }
        if (!text(status, "completionTime").isEmpty()) {
            return Optional.of(which + "it to be in progress, seen its end at " + text(status, "completionTime"));
        }
        Optional<String> other = ForeignJanitor.of(act.resource(), finalizers(metadata), statusManagers(metadata));
        if (other.isPresent()) {
            return Optional.of(which + "one janitor, seen another: " + other.get());
        }
        Set<String> over = act.plural().equals("gpuresets") ? Set.of("ResetJobCompleted") : Set.of();
        return JsonTrees.objects(status, "conditions").stream()
                .filter(each -> over.contains(text(each, "type"))
                        || text(each, "type").equals("SignalSent")
                                && text(each, "status").equals("False"))
                .findFirst()
                .map(each -> which + "it to be in progress, seen " + text(each, "type") + " " + text(each, "status")
                        + " " + text(each, "reason"));
    }

    private static List<String> finalizers(Map<?, ?> metadata) {
        return metadata.get("finalizers") instanceof List<?> all
                ? all.stream().map(String::valueOf).toList()
                : List.of();
    }

    private static List<String> statusManagers(Map<?, ?> metadata) {
        return JsonTrees.objects(metadata, "managedFields").stream()
                .filter(each -> text(each, "subresource").equals("status"))
                .map(each -> text(each, "manager"))
                .toList();
    }

    /**
     * Records on this node that the act happens now. Returns the reason if it has happened already, or if that cannot be recorded:
     * a second pod of the same Job must not act again.
     *
     * @param folder of this node; created if it is missing
     */
    public Optional<String> claim(Path folder) {
        Path record = folder.resolve(act.uid());
        try {
            Files.createDirectories(folder);
            Files.createFile(record);
            return Optional.empty();
        } catch (FileAlreadyExistsException e) {
            return Optional.of(act.resource() + ": expected its first act, seen the record of an earlier one in "
                    + record + ": it may have acted");
        } catch (IOException e) {
            return Optional.of(act.resource() + ": its act cannot be recorded in " + record + ": " + e);
        }
    }
}
