package dev.gpuwarden.core.holder;

import java.util.List;
import java.util.Optional;

/**
 * A search for pods whose processes hold a GPU open.
 *
 * @param found containers that were found
 * @param missing the reason why others may be missing; empty if all processes and GPUs were searched
 */
public record ProcessSearch(List<ProcessHolder> found, Optional<String> missing) {

    public ProcessSearch {
        found = List.copyOf(found);
    }
}
