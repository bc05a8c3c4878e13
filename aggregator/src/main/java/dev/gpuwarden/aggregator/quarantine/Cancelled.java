package dev.gpuwarden.aggregator.quarantine;

import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.FaultKey;
import dev.gpuwarden.core.util.Sha256;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.TreeSet;

/** Faults that a person has decided to live with. One that ends and comes again is another one: since when is part of it. */
public final class Cancelled {

    private static final int DIGITS = 12;

    private Cancelled() {}

    static String digest(Fault fault) {
        FaultKey key = fault.key();
        String text = String.join(
                "\0",
                key.agent(),
                key.componentClass(),
                key.checkName(),
                key.entity().type(),
                key.entity().value(),
                key.errorCode(),
                fault.since().toString());
        return Sha256.hex(text, DIGITS);
    }

    /** Sorted: the same faults give the same text. */
    static String write(Collection<String> digests) {
        return String.join(",", new TreeSet<>(digests));
    }

    static Set<String> read(String text) {
        Set<String> digests = new LinkedHashSet<>(java.util.List.of(text.split(",")));
        digests.remove("");
        return digests;
    }
}
