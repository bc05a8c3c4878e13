package dev.gpuwarden.daemon.vram.notice;

import dev.gpuwarden.core.model.GpuIdentity;
import java.time.Instant;

/**
 * The state of one tenant on one GPU in a notice.
 *
 * @param tenant name, untrusted
 * @param usedBytes 0 where it is not over its budget
 * @param budgetBytes 0 where it is not over its budget
 * @param reason why memory is short, in words
 * @param at begin of the state
 */
public record Notice(
        State state, GpuIdentity gpu, String tenant, long usedBytes, long budgetBytes, String reason, Instant at) {

    /** The state of a tenant. */
    public enum State {
        /** It is within its budget, or there is enough memory. */
        NONE,
        /** It is over its budget while memory is short. */
        OVER_BUDGET,
        /** A decision to recycle it, in a dry run. */
        WOULD_BE_RECYCLED,
        /** A decision to recycle it, which is being carried out. */
        WILL_BE_RECYCLED
    }
}
