package dev.gpuwarden.runner;

import dev.gpuwarden.runner.jvm.Tier;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The user's arguments. Immutable.
 *
 * @param tiers empty: each tier that runs without being asked for
 * @param module empty: all of them
 * @param test a class, or a class and a method behind #; empty: all of the module
 */
record Arguments(Set<Tier> tiers, Optional<String> module, Optional<String> test) {

    static Arguments parse(List<String> words) {
        Set<Tier> tiers = EnumSet.noneOf(Tier.class);
        List<String> names = new ArrayList<>();
        for (int i = 0; i < words.size(); i++) {
            String word = words.get(i);
            if (word.equals("--soak")) {
                tiers.add(Tier.SOAK);
            } else if (word.equals("--tier") && i + 1 < words.size()) {
                i++;
                for (String name : words.get(i).split(",", -1)) {
                    tiers.add(Tier.named(name)
                            .filter(tier -> tier != Tier.GPU)
                            .orElseThrow(() -> new UsageError(
                                    "--tier: expected unit, programs, api, nodes, image or soak, seen " + name)));
                }
            } else if (word.startsWith("-")) {
                throw new UsageError("unknown option " + word + "; see ./gpuwarden test --help");
            } else {
                names.add(word);
            }
        }
        if (names.size() > 2) {
            throw new UsageError(
                    "expected at most a module and a class, seen " + names + "; see ./gpuwarden test --help");
        }
        return new Arguments(
                tiers,
                names.isEmpty() ? Optional.empty() : Optional.of(names.get(0)),
                names.size() < 2 ? Optional.empty() : Optional.of(names.get(1)));
    }

    /** A wrong argument; the message has the expected ones. Exit code 2. */
    static final class UsageError extends RuntimeException {

        private static final long serialVersionUID = 1L;

        UsageError(String message) {
            super(message);
        }
    }
}
