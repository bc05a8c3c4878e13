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

    /** @param part of the path */
    public static Predicate<ApiCall> of(String method, String part) {
        return call -> call.method.equals(method) && call.path.contains(part);
    }

    /** @param part of the path of what is watched */
    public static Predicate<ApiCall> watch(String part) {
        return call -> call.isWatch() && call.path.contains(part);
    }

    public boolean isWatch() {
        return query.matches("(.*&)?watch=(true|1)(&.*)?");
    }
}
