package dev.gpuwarden.watchdog.budget;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The budget of a pod: what the scheduler charges for the extended resource, a number of MiB. Resources of a pod as a whole
 * ({@code spec.resources}) cannot have an extended resource, so that they are no input.
 *
 * @param pod namespace and name
 * @param containers init containers in their order; the order of the others does not matter
 * @param overhead quantity of the resource in {@code spec.overhead}; empty where it has none
 */
public record PodBudget(String pod, List<Container> containers, Optional<String> overhead) {

    /** When a container runs. */
    public enum Kind {
        /** Alone, before the pod's own containers. */
        INIT,
        /** An init container that goes on: its {@code restartPolicy} is {@code Always}. */
        SIDECAR,
        MAIN
    }

    /** @param quantity of the resource as the API server has it; empty where the container asks for none */
    public record Container(String name, Kind kind, Optional<String> quantity) {}

    public enum State {
        /** No container asks for the resource. */
        NONE,
        KNOWN,
        /** A quantity cannot be read. */
        UNREADABLE,
        /** The budget is for several GPUs, and nothing states how much of it is for one. */
        UNKNOWN_SPLIT
    }

    /** @param bytes present in the state KNOWN alone; else absent with pod, container, expected and seen */
    public record Amount(State state, Reading<Long> bytes) {

        private static Amount absent(State state, Absence cause, String detail) {
            return new Amount(state, Reading.absent(cause, 0, detail));
        }
    }

    public PodBudget {
        containers = List.copyOf(containers);
    }

    /** Returns the budget of the pod on all its GPUs together. */
    public Amount total() {
        return charge(containers, overhead);
    }

    /**
     * Returns the part of the budget that is for one GPU. A container with one GPU has its whole budget there. A container with
     * several, or with none known, leaves the split unknown.
     *
     * @param gpus the GPUs that each container may use, by its name
     */
    public Amount on(String gpu, Map<String, Set<String>> gpus) {
        Amount total = total();
        if (total.state() != State.KNOWN) {
            return total;
        }
        List<Container> budgeted = containers.stream()
                .filter(container -> container.quantity().isPresent())
                .toList();
        for (Container container : budgeted) {
            Set<String> used = gpus.getOrDefault(container.name(), Set.of());
            if (used.isEmpty() || used.contains(gpu) && used.size() > 1) {
                return unknownSplit("container " + container.name() + " has a budget and "
                        + (used.isEmpty() ? "no known GPU" : used.size() + " GPUs"));
            }
        }
        List<Container> here = budgeted.stream()
                .filter(container ->
                        gpus.getOrDefault(container.name(), Set.of()).contains(gpu))
                .toList();
        boolean elsewhere = here.size() < budgeted.size();
        if (overhead.isPresent() && elsewhere) {
            return unknownSplit("it has an overhead and several GPUs");
        }
        return here.isEmpty() && elsewhere ? none() : charge(here, overhead);
    }

    private Amount unknownSplit(String why) {
        return Amount.absent(State.UNKNOWN_SPLIT, Absence.NO_DATA, "pod " + pod + ": " + why);
    }

    private static Amount none() {
        return Amount.absent(State.NONE, Absence.NO_DATA, "none is configured");
    }

    /**
     * The scheduler's formula: while an init container runs, the sidecars before it run too; afterwards all sidecars run with the
     * containers. The larger need counts.
     */
    private Amount charge(List<Container> charged, Optional<String> overheadText) {
        boolean any = overheadText.isPresent();
        long together = 0;
        long sidecars = 0;
        long starting = 0;
        try {
            for (Container container : charged) {
                any |= container.quantity().isPresent();
                long bytes = bytes("container " + container.name(), container.quantity());
                if (container.kind() == Kind.SIDECAR) {
                    sidecars = Math.addExact(sidecars, bytes);
                }
                if (container.kind() != Kind.INIT) {
                    together = Math.addExact(together, bytes);
                }
                if (container.kind() != Kind.MAIN) {
                    long own = container.kind() == Kind.INIT ? bytes : 0;
                    starting = Math.max(starting, Math.addExact(sidecars, own));
                }
            }
            long bytes = Math.addExact(Math.max(together, starting), bytes("overhead", overheadText));
            return any ? new Amount(State.KNOWN, Reading.of(bytes)) : none();
        } catch (ArithmeticException e) {
            return unreadable("expected less memory than 2^63 bytes, seen a larger sum of its containers");
        } catch (IllegalArgumentException e) {
            return unreadable(String.valueOf(e.getMessage()));
        }
    }

    private Amount unreadable(String problem) {
        return Amount.absent(State.UNREADABLE, Absence.IMPLAUSIBLE, "pod " + pod + ": " + problem);
    }

    private static long bytes(String where, Optional<String> quantity) {
        try {
            return quantity.isEmpty() ? 0 : Quantity.parse(quantity.get()).bytesOfMebibytes();
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(where + ": " + e.getMessage(), e);
        }
    }
}
