package dev.gpuwarden.daemon.command;

import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.daemon.kube.MaintenanceGate;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options by which the janitor's Job names its resource, so that its program tests again just before it acts. Not for users. */
final class GateOptions {

    @Option(names = "--maintenance.resource", hidden = true, paramLabel = "KINDS/NAME")
    @Nullable String resource;

    @Option(names = "--maintenance.uid", hidden = true, paramLabel = "UID")
    @Nullable String uid;

    @Option(names = "--maintenance.generation", hidden = true, paramLabel = "NUMBER")
    long generation;

    @Option(names = "--maintenance.node", hidden = true, paramLabel = "NAME")
    @Nullable String node;

    @Option(names = "--maintenance.node-uid", hidden = true, paramLabel = "UID")
    @Nullable String nodeUid;

    @Option(names = "--maintenance.lock-namespace", hidden = true, paramLabel = "NAMESPACE")
    @Nullable String locks;

    @Option(names = "--maintenance.record", hidden = true, paramLabel = "FOLDER")
    @Nullable Path record;

    /** Returns true if this program acts for a maintenance resource. */
    boolean given() {
        return Stream.of(resource, uid, node, nodeUid, locks, record).anyMatch(each -> each != null);
    }

    /**
     * Returns the reason why the act must not happen now; empty if it may, and if it is no act of maintenance. Blocks for the API
     * server.
     *
     * @throws UserError if some of the options are missing
     */
    Optional<String> refusal() throws InterruptedException {
        if (!given()) {
            return Optional.empty();
        }
        MaintenanceGate gate = gate();
        Optional<String> refusal = gate.refusal();
        Path folder = record;
        return refusal.isPresent() || folder == null ? refusal : gate.claim(folder);
    }

    MaintenanceGate gate() {
        String[] words = resource == null ? new String[0] : resource.split("/", -1);
        if (words.length != 2 || uid == null || node == null || nodeUid == null || locks == null || generation < 1) {
            throw new UserError("--maintenance.resource=KINDS/NAME needs --maintenance.uid, --maintenance.generation,"
                    + " --maintenance.node, --maintenance.node-uid and --maintenance.lock-namespace");
        }
        return new MaintenanceGate(new MaintenanceGate.Act(words[0], words[1], uid, generation, node, nodeUid, locks));
    }
}
