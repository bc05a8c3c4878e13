package dev.gpuwarden.aggregator.app;

import dev.gpuwarden.testkit.cluster.ApiCall;
import dev.gpuwarden.testkit.cluster.ApiFault;
import dev.gpuwarden.testkit.cluster.FaultyApi;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.regex.Pattern;

/**
 * A write at which an aggregator is killed: its path, and its number among the writes to that path. A number among all writes
 * would not identify it: their order differs between runs, and two writes of one Node may become one.
 *
 * @param what method and path, with a star for the name of the scene and for each UID
 */
record KillPoint(String what, int nth) {

    private static final Pattern UID = Pattern.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}");
    private static final Set<String> WRITES = Set.of("POST", "PUT", "PATCH", "DELETE");

    /** Returns the writes of the scene: the first to each path and all further ones, in their order. */
    static List<KillPoint> of(List<ApiCall> calls, String scene) {
        Map<String, Integer> times = new HashMap<>();
        List<KillPoint> points = new ArrayList<>();
        for (ApiCall call : calls) {
            if (writes(call)) {
                String what = what(call, scene);
                points.add(new KillPoint(what, times.merge(what, 1, Integer::sum)));
            }
        }
        return points;
    }

    /**
     * Returns true for a write of a scene. The Leases of this namespace belong to no scene, and the status of rule sets is written once for all
     * scenes.
     */
    private static boolean writes(ApiCall call) {
        return WRITES.contains(call.method())
                && !call.path().contains("/namespaces/gpuwarden/leases")
                && !call.path().contains("/quarantinerulesets");
    }

    private static String what(ApiCall call, String scene) {
        return call.method() + " "
                + UID.matcher(call.path().replace(scene, "*")).replaceAll("*");
    }

    /** Returns true if every run reaches this write. */
    boolean always() {
        return nth == 1;
    }

    /** Makes this write of the scene fail, and every request after it. The result returns true after that. */
    BooleanSupplier kill(FaultyApi faulty, String scene, ApiFault how) {
        BooleanSupplier reached = reach(faulty, scene, how);
        faulty.fail(call -> reached.getAsBoolean(), new ApiFault.CutBefore());
        return reached;
    }

    /** Injects the fault into this write of the scene. The result returns true once the write has begun. */
    BooleanSupplier reach(FaultyApi faulty, String scene, ApiFault how) {
        AtomicInteger seen = new AtomicInteger();
        faulty.fail(call -> writes(call) && what(call, scene).equals(what) && seen.incrementAndGet() == nth, 1, how);
        return () -> seen.get() >= nth;
    }
}
