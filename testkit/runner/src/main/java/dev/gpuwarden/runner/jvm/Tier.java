package dev.gpuwarden.runner.jvm;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/** The requirement of a test, given by the JUnit tag of the same name. A test without such a tag is a unit test. */
public enum Tier {
    /** Starts no program. */
    UNIT,
    /** Starts real programs: a daemon, a browser, a client in another language. */
    PROGRAMS,
    /** Uses a real kube-apiserver. */
    API,
    /** Runs pods on real nodes. */
    NODES,
    /** Runs the runtime image. */
    IMAGE,
    /** Takes minutes to hours; runs on demand only. */
    SOAK,
    /** Needs a real GPU; `benchmarks/gpu-acceptance` runs these. */
    GPU;

    /** A class has at most one of these tags; without one it is {@link #UNIT}. */
    private static final Set<Tier> NEEDS = Set.of(PROGRAMS, API, NODES, IMAGE);

    /** Returns the JUnit tag. */
    public String tag() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Returns the tier of that name; empty when there is none. */
    public static Optional<Tier> named(String name) {
        return Arrays.stream(values()).filter(tier -> tier.tag().equals(name)).findFirst();
    }

    /** Returns the tags of all tiers. */
    public static List<String> tags() {
        return Arrays.stream(values())
                .filter(tier -> tier != UNIT)
                .map(Tier::tag)
                .toList();
    }

    /**
     * Returns the tier of a test with these tags, its class's included.
     *
     * @throws IllegalArgumentException when two tags contradict each other
     */
    public static Tier of(Set<String> tags) {
        if (tags.contains(SOAK.tag())) {
            return SOAK;
        }
        if (tags.contains(GPU.tag())) {
            return GPU;
        }
        List<Tier> needs = NEEDS.stream()
                .filter(tier -> tags.contains(tier.tag()))
                .sorted()
                .toList();
        if (needs.size() > 1) {
            throw new IllegalArgumentException("expected one tag of a tier, seen " + needs);
        }
        return needs.isEmpty() ? UNIT : needs.get(0);
    }
}
