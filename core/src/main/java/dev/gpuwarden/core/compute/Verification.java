package dev.gpuwarden.core.compute;

import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
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
 * @param planted errors of the host, which do not count as wrong
 */
public record Verification(
        long elements,
        long wrong,
        OptionalLong firstIndex,
        List<Mismatch> kept,
        SortedMap<Integer, Long> wrongBySm,
        PlantedErrors planted) {

    /** The number that a kernel keeps (REPORT_KEPT in arguments.h). */
    public static final int MOST_KEPT = 16;

    public static final Verification NOTHING = new Verification(0, 0, OptionalLong.empty(), List.of(), new TreeMap<>());

    /** Creates the comparison of elements among which no error was planted. */
    public Verification(
            long elements,
            long wrong,
            OptionalLong firstIndex,
            List<Mismatch> kept,
            SortedMap<Integer, Long> wrongBySm) {
        this(elements, wrong, firstIndex, kept, wrongBySm, PlantedErrors.NONE);
    }

    public Verification {
        kept = kept.stream()
                .sorted(Comparator.comparing(Mismatch::index, Long::compareUnsigned))
                .limit(MOST_KEPT)
                .toList();
        wrongBySm = Collections.unmodifiableSortedMap(new TreeMap<>(wrongBySm));
    }

    /** Returns whether all elements have their values, and each planted error was found. */
    public boolean isRight() {
        return wrong == 0 && planted.missed() == 0;
    }

    public boolean hasWrong() {
        return wrong > 0;
    }

    /**
     * Returns the comparison of the right elements and of those that are really wrong, if the host had planted this error before. A report
     * that is full may have displaced it: such a comparison is not blind. An element that the host read as wrong counts, also if the
     * comparison missed it.
     */
    public Verification without(PlantedError error) {
        Optional<Mismatch> reported = kept.stream()
                .filter(mismatch -> mismatch.index() == error.index()
                        && mismatch.expected() == error.expected()
                        && mismatch.seen() == error.during())
                .findFirst();
        boolean found = reported.isPresent() || wrong > MOST_KEPT;
        PlantedErrors errors =
                planted.and(found ? PlantedErrors.FOUND : PlantedErrors.missed(error.text() + heard(error)));
        if (error.isWritten()) {
            return found ? less(reported, errors) : withPlanted(errors);
        }
        return found ? withPlanted(errors) : withWrongOfHost(error, errors);
    }

    private String heard(PlantedError error) {
        return kept.stream()
                .filter(mismatch -> mismatch.index() == error.index())
                .findFirst()
                .map(mismatch -> " (reported as " + mismatch.text() + ")")
                .orElse("");
    }

    private Verification withPlanted(PlantedErrors errors) {
        return new Verification(elements, wrong, firstIndex, kept, wrongBySm, errors);
    }

    private Verification withWrongOfHost(PlantedError error, PlantedErrors errors) {
        Mismatch mismatch =
                new Mismatch(error.index(), error.expected(), error.before(), OptionalInt.empty(), OptionalInt.empty());
        Verification host =
                new Verification(0, 1, OptionalLong.of(error.index()), List.of(mismatch), new TreeMap<>(), errors);
        return withPlanted(PlantedErrors.NONE).and(host);
    }

    private Verification less(Optional<Mismatch> reported, PlantedErrors errors) {
        List<Mismatch> others = kept.stream()
                .filter(other -> !Optional.of(other).equals(reported))
                .toList();
        SortedMap<Integer, Long> bySm = new TreeMap<>(wrongBySm);
        reported.flatMap(one -> Stream.of(one.writerSm(), one.readerSm())
                        .flatMapToInt(OptionalInt::stream)
                        .boxed()
                        .findFirst())
                .ifPresent(sm -> bySm.computeIfPresent(sm, (unused, count) -> count > 1 ? count - 1 : null));
        boolean wasFirst =
                reported.isPresent() && OptionalLong.of(reported.get().index()).equals(firstIndex);
        OptionalLong first = !wasFirst
                ? firstIndex
                : others.stream().mapToLong(Mismatch::index).findFirst();
        return new Verification(elements, wrong - 1, first, others, bySm, errors);
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
        return new Verification(elements, wrong, firstIndex, kept, new TreeMap<>(), planted);
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
                sums,
                planted.and(other.planted));
    }
}
