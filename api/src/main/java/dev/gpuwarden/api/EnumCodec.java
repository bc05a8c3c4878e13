package dev.gpuwarden.api;

import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/**
 * A codec of an enum whose constants have the same names on the wire, after a prefix. It is not created if the wire lacks one of
 * them. Thread-safe.
 */
final class EnumCodec<C extends Enum<C>, W extends Enum<W>> {

    private final Map<C, W> toWire;
    private final Map<W, C> fromWire;

    private EnumCodec(Map<C, W> toWire, Map<W, C> fromWire) {
        this.toWire = toWire;
        this.fromWire = fromWire;
    }

    static <C extends Enum<C>, W extends Enum<W>> EnumCodec<C, W> of(Class<C> core, Class<W> wire, String prefix) {
        return of(EnumSet.allOf(core), core, wire, prefix);
    }

    /** @param known the constants that the wire has */
    static <C extends Enum<C>, W extends Enum<W>> EnumCodec<C, W> of(
            Set<C> known, Class<C> core, Class<W> wire, String prefix) {
        EnumCodec<C, W> codec = new EnumCodec<>(new EnumMap<>(core), new EnumMap<>(wire));
        for (C constant : known) {
            W same = Enum.valueOf(wire, prefix + constant.name());
            codec.toWire.put(constant, same);
            codec.fromWire.put(same, constant);
        }
        return codec;
    }

    W toWire(C constant) {
        return Objects.requireNonNull(toWire.get(constant), constant.name());
    }

    /** Returns the constant; empty for one that this version does not support. */
    Optional<C> fromWire(W wire) {
        return Optional.ofNullable(fromWire.get(wire));
    }
}
