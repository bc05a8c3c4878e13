package dev.gpuwarden.aggregator.client;

/** The order of resourceVersions. Since 1.35 Kubernetes guarantees that versions rise, until its store is restored. */
public final class ResourceVersions {

    private ResourceVersions() {}

    /** Returns the version as a number. A text that is none counts as the oldest version, 0. */
    public static long number(String resourceVersion) {
        try {
            return Long.parseLong(resourceVersion);
        } catch (NumberFormatException e) {
            return 0;
        }
    }
}
