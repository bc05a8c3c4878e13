package dev.gpuwarden.daemon.vram.reserve;

import dev.gpuwarden.core.model.GpuIdentity;
import java.time.Instant;
import java.util.Optional;

/**
 * The present state of a request.
 *
 * @param reason why it waits, or why it has ended, in words
 * @param tenant name of its tenant, untrusted
 * @param gpu the GPU whose memory it has; empty unless it was granted
 * @param unusedBytes of a granted one, what its tenant has not allocated yet
 * @param until end of its present state, at the latest
 */
public record Progress(
        State state, String reason, String tenant, Optional<GpuIdentity> gpu, long unusedBytes, Instant until) {

    /** The state of a request. */
    public enum State {
        WAITING,
        GRANTED,
        /** Its time is over, as it waited or was granted. */
        EXPIRED
    }
}
