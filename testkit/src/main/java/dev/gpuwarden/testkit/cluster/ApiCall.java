package dev.gpuwarden.testkit.cluster;

import java.util.function.Predicate;

/**
 * A request to an API server.
 *
 * @param query without question mark; empty where there is none
 */
public record ApiCall(String method, String path, String query) {

    public static Predicate<ApiCall> any() {
        return call -> true;
    }

    /** Matches requests by a part of their path. */
    public static Predicate<ApiCall> of(String method, String part) {
        return call -> call.method.equals(method) && call.path.contains(part);
    }

    /** Matches watches by a part of their path. */
    public static Predicate<ApiCall> watch(String part) {
        return call -> call.isWatch() && call.path.contains(part);
    }

    public boolean isWatch() {
        return query.matches("(.*&)?watch=(true|1)(&.*)?");
    }
}
