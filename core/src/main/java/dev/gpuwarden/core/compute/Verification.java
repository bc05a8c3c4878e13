package dev.gpuwarden.core.compute;

import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * The comparison of a GPU's results with their expected values.
 *
 * @param elements that were compared
 * @param wrong elements with another value
 * @param firstIndex the lowest index of a wrong element; empty if there is none
 * @param kept some of the mismatches, in the order of their indices; the first element may lack there if there are more than
 *     {@link #MOST_KEPT}
 * @param wrongBySm wrong elements by the SM that wrote them, or by the one that read them if the writer is not known
 */
public record Verification(
        long elements, long wrong, OptionalLong firstIndex, List<Mismatch> kept, SortedMap<Integer, Long> wrongBySm) {

    /** The number that a kernel keeps (REPORT_KEPT in arguments.h). */
    public static final int MOST_KEPT = 16;

    public static final Verification NOTHING = new Verification(0, 0, OptionalLong.empty(), List.of(), new TreeMap<>());

    public Verification {
        kept = kept.stream()
                .sorted(Comparator.comparing(Mismatch::index, Long::compareUnsigned))
                .limit(MOST_KEPT)
                .toList();
        wrongBySm = Collections.unmodifiableSortedMap(new TreeMap<>(wrongBySm));
    }

    public boolean isRight() {
        return wrong == 0;
    }

    /** Returns the kept mismatch with the lowest index. */
    public Optional<Mismatch> first() {
        return kept.stream().findFirst();
    }

    /** Returns the SM with the most wrong elements; the lowest of several. */
    public Optional<Integer> worstSm() {
        return wrongBySm.entrySet().stream()
                .max(Comparator.comparing(Map.Entry<Integer, Long>::getValue)
                        .thenComparing(Map.Entry::getKey, Comparator.reverseOrder()))
                .map(Map.Entry::getKey);
    }

    /** Returns the same without SMs, for results of a program that does not record its own. */
    public Verification withoutSms() {
        return new Verification(elements, wrong, firstIndex, kept, new TreeMap<>());
    }

    /** Returns both together. The indices of the other one belong to the same elements. */
    public Verification and(Verification other) {
        SortedMap<Integer, Long> sums = new TreeMap<>(wrongBySm);
        other.wrongBySm.forEach((sm, count) -> sums.merge(sm, count, Long::sum));
        OptionalLong lowest = Stream.of(firstIndex, other.firstIndex)
                .filter(OptionalLong::isPresent)
                .mapToLong(OptionalLong::getAsLong)
                .min();
        return new Verification(
                elements + other.elements,
                wrong + other.wrong,
                lowest,
                Stream.concat(kept.stream(), other.kept.stream()).toList(),
                sums);
    }
}
