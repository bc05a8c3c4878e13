package dev.gpuwarden.watchdog.budget;

import dev.gpuwarden.core.model.Reading;
import java.time.Instant;
import java.util.Optional;

/**
 * The facts about a tenant besides its memory.
 *
 * @param id an identity that no other tenant ever has, such as a pod's UID
 * @param name for users, untrusted
 * @param workload the name that a tenant shares with its replacements: a pod's controller, a unit; its ID where it has none
 * @param budgetBytes memory that it may always have on the GPU in question; absent where it has none, or where its text
 *     cannot be read
 * @param priority a higher number is more important
 * @param started {@link Instant#EPOCH} where it is unknown
 * @param exempt why it must never be recycled; empty if it may be
 * @param leaving whether it already ends
 */
public record Terms(
        String id,
        String name,
        String workload,
        Reading<Long> budgetBytes,
        int priority,
        Instant started,
        Optional<String> exempt,
        boolean leaving) {}
