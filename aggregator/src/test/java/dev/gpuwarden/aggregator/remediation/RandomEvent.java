package dev.gpuwarden.aggregator.remediation;

import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.Overrides;
import dev.gpuwarden.core.event.RecommendedAction;
import java.util.List;
import java.util.Random;
import java.util.Set;

/** A random event, as the program and the model have it. */
record RandomEvent(String check, List<String> gpus, RecommendedAction action, boolean skip) {

    static final List<String> GPUS = List.of("a", "b", "c");

    /** The check whose faults no rule accepts: they are in the report, and hold no node. */
    private static final String UNHELD = "unheld";

    private static final List<String> CHECKS = List.of("check-0", "check-1", "check-2", UNHELD);
    private static final List<List<String>> PAIRS = List.of(List.of("a", "b"), List.of("b", "a"), List.of("b", "c"));
    private static final List<RecommendedAction> ACTIONS = List.of(
            RecommendedAction.COMPONENT_RESET,
            RecommendedAction.COMPONENT_RESET,
            RecommendedAction.RESTART_BM,
            RecommendedAction.RESTART_VM,
            RecommendedAction.NONE,
            RecommendedAction.CONTACT_SUPPORT,
            RecommendedAction.CONTACT_SUPPORT,
            RecommendedAction.CUSTOM,
            RecommendedAction.CUSTOM,
            RecommendedAction.REPLACE_VM);

    static RandomEvent of(Random random) {
        List<String> gpus = gpus(random);
        return new RandomEvent(any(random, CHECKS), gpus, any(random, ACTIONS), random.nextInt(10) == 0);
    }

    /** Returns the GPUs that an event names: mostly one, at times two or none. */
    private static List<String> gpus(Random random) {
        return switch (random.nextInt(10)) {
            case 0 -> List.of();
            case 1, 2, 3 -> any(random, PAIRS);
            default -> List.of(any(random, GPUS));
        };
    }

    private static <T> T any(Random random, List<T> from) {
        return from.get(random.nextInt(from.size()));
    }

    static String uuid(String gpu) {
        return "GPU-" + gpu.repeat(8) + "-2051-db6c-0430-ffc457bff834";
    }

    static List<String> uuids(List<String> gpus) {
        return gpus.stream().map(RandomEvent::uuid).toList();
    }

    HealthEvent cause() {
        return HealthEvent.of("a", "GPU", check)
                .nodeName("n")
                .fatal(true)
                .errorCodes(List.of("48"))
                .action(action)
                .customAction(action == RecommendedAction.CUSTOM ? "fix" : "")
                .entities(gpus.stream().map(gpu -> Entity.gpu(uuid(gpu))).toList())
                .drain(skip ? new Overrides(false, true) : Overrides.NONE)
                .build();
    }

    /** Returns true if the fault holds the node in quarantine. */
    boolean holds() {
        return !check.equals(UNHELD);
    }

    ModelFault fault(long since) {
        String requested = switch (action) {
            case COMPONENT_RESET -> "reset";
            case RESTART_BM, RESTART_VM -> "restart";
            case NONE -> "none";
            case CONTACT_SUPPORT -> "support";
            case CUSTOM -> "fix";
            default -> "person";
        };
        return new ModelFault(check, Set.copyOf(gpus), requested, since, skip, false);
    }

    @Override
    public String toString() {
        return check + " " + gpus + " " + action + (skip ? " without a drain" : "");
    }
}
