package dev.gpuwarden.checks.compute;

import dev.gpuwarden.core.port.CollectiveException;
import dev.gpuwarden.core.port.CollectiveException.Kind;
import java.util.Map;
import java.util.TreeMap;

/** The failures of ranks that others follow from: one GPU's failure makes all others fail too. Pure. */
final class FailureCauses {

    /** nccl.h, ncclRemoteError. */
    private static final int REMOTE = 6;

    private FailureCauses() {}

    /**
     * Returns the failures with a cause of their own. If there is none, each rank has the time that was over, since a rank that gives
     * up takes its connections with it; else the lost connection.
     *
     * @param failures by the place of the rank
     */
    static Map<Integer, CollectiveException> of(Map<Integer, CollectiveException> failures, int ranks) {
        Map<Integer, CollectiveException> own = new TreeMap<>();
        failures.forEach((place, why) -> {
            if (why.kind() != Kind.ABORTED && why.kind() != Kind.TIMEOUT && !isRemote(why)) {
                own.put(place, why);
            }
        });
        if (!own.isEmpty()) {
            return own;
        }
        CollectiveException shared = failures.values().stream()
                .filter(why -> why.kind() == Kind.TIMEOUT)
                .findFirst()
                .or(() -> failures.values().stream()
                        .filter(FailureCauses::isRemote)
                        .findFirst())
                .orElseGet(() -> new CollectiveException(Kind.TIMEOUT, 0, "the run did not end in time"));
        Map<Integer, CollectiveException> all = new TreeMap<>();
        for (int place = 0; place < ranks; place++) {
            all.put(place, shared);
        }
        return all;
    }

    static boolean isRemote(CollectiveException why) {
        return why.kind() == Kind.COLLECTIVES && why.code() == REMOTE;
    }
}
