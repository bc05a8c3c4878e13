package dev.gpuwarden.checks;

import dev.gpuwarden.core.check.CheckContext;
import dev.gpuwarden.core.check.GpuAccess.Answer;
import dev.gpuwarden.core.check.GpuAccess.Grant;
import dev.gpuwarden.core.check.GpuAccess.Refusal;
import dev.gpuwarden.core.check.HealthCheck;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;

/** The GPUs that one run of a check may work on, until they are withdrawn. The thread of the check alone uses it. */
public final class GpuGrants implements AutoCloseable {

    private final Map<GpuSnapshot, Grant> granted = new LinkedHashMap<>();
    private final Map<GpuSnapshot, Refusal> refused = new LinkedHashMap<>();

    private Predicate<String> idle = any -> true;

    private GpuGrants() {}

    /** Requests GPUs; may block for seconds. */
    public static GpuGrants request(CheckContext context, HealthCheck check, List<GpuSnapshot> gpus) {
        GpuGrants grants = new GpuGrants();
        List<Answer> answers = gpus.isEmpty()
                ? List.of()
                : context.access().request(check.info().id(), check.load(), gpus);
        for (int i = 0; i < answers.size(); i++) {
            if (answers.get(i) instanceof Grant grant) {
                grants.granted.put(gpus.get(i), grant);
            } else if (answers.get(i) instanceof Refusal refusal) {
                grants.refused.put(gpus.get(i), refusal);
            }
        }
        return grants;
    }

    /**
     * Sets the question whether all work on a GPU has returned. A grant of one that is not idle lasts until it is.
     *
     * @param idleUuid the question, for a UUID; must not block
     */
    public void idleIf(Predicate<String> idleUuid) {
        idle = idleUuid;
    }

    /** Returns the GPUs to work on, in the order of the request. */
    public List<GpuSnapshot> gpus() {
        return List.copyOf(granted.keySet());
    }

    /** Returns why a GPU got no work, or had to be given up; empty for all others. */
    public Optional<Refusal> refusal(GpuSnapshot gpu) {
        return Optional.ofNullable(refused.get(gpu));
    }

    /** Returns a question, for any thread, of whether one of these GPUs is withdrawn, so that their work must end. */
    public BooleanSupplier withdrawn(List<GpuSnapshot> gpus) {
        List<Grant> grants = gpus.stream().map(granted::get).toList();
        return () -> grants.stream().anyMatch(grant -> grant.withdrawn().isPresent());
    }

    /** Gives the withdrawn ones of these GPUs back, after their work has ended, and returns the others. */
    public List<GpuSnapshot> giveUpWithdrawn(List<GpuSnapshot> gpus) {
        for (GpuSnapshot gpu : gpus) {
            Grant grant = granted.get(gpu);
            Optional<Refusal> why = grant == null ? Optional.empty() : grant.withdrawn();
            if (grant != null && why.isPresent()) {
                refused.put(gpu, why.get());
                granted.remove(gpu);
                end(gpu, grant);
            }
        }
        return gpus.stream().filter(granted::containsKey).toList();
    }

    @Override
    public void close() {
        granted.forEach(this::end);
        granted.clear();
    }

    private void end(GpuSnapshot gpu, Grant grant) {
        String uuid = gpu.identity().selector();
        Predicate<String> returned = idle;
        if (returned.test(uuid)) {
            grant.close();
        } else {
            grant.closeWhen(() -> returned.test(uuid));
        }
    }
}
