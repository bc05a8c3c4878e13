package dev.gpuwarden.runner;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/** What a test needs. The JUnit tag of the same name says so; a test without any of them is a unit test. */
public enum Tier {
    /** Starts no program. */
    UNIT,
    /** Starts real programs: a daemon, a browser, a client in another language. */
    PROGRAMS,
    /** Talks to a real kube-apiserver. */
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

    /** The JUnit tag. */
    public String tag() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** The tier of that name; empty when there is none. */
    public static Optional<Tier> named(String name) {
        return Arrays.stream(values()).filter(tier -> tier.tag().equals(name)).findFirst();
    }

    /** All tags that mean a tier. */
    public static List<String> tags() {
        return Arrays.stream(values())
                .filter(tier -> tier != UNIT)
                .map(Tier::tag)
                .toList();
    }

    /**
     * The tier of a test with these tags, its class's among them.
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
