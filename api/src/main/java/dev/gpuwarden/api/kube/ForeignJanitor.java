package dev.gpuwarden.api.kube;

import java.util.List;
import java.util.Optional;

/** The traces of another janitor on a maintenance resource: it may act at any time, also in the middle of an action of this program. Pure. */
public final class ForeignJanitor {

    /** The finalizer of NVSentinel's janitor. */
    public static final String FINALIZER = "janitor.dgxc.nvidia.com/finalizer";

    /** The beginning of the field managers of this program. */
    private static final String OWN = "gpuwarden";

    private ForeignJanitor() {}

    /**
     * Returns the trace, for operators; empty if there is none.
     *
     * @param resource name of the resource in the text
     * @param statusManagers field managers that have written its status
     */
    public static Optional<String> of(String resource, List<String> finalizers, List<String> statusManagers) {
        if (finalizers.contains(FINALIZER)) {
            return Optional.of(resource + " has the finalizer " + FINALIZER + " of NVSentinel's janitor");
        }
        return statusManagers.stream()
                .filter(manager -> !manager.startsWith(OWN))
                .findFirst()
                .map(manager -> "the status of " + resource + " is written by " + manager);
    }
}
