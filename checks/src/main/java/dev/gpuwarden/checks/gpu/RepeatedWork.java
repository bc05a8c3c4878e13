package dev.gpuwarden.checks.gpu;

import dev.gpuwarden.core.model.Reading;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * The same work again and again, while GPUs become warm: until no temperature has risen for some time. Each repetition is
 * a result with its temperature. The first wrong one and the last one are kept.
 *
 * @param level time without a rise of any temperature after which the work ends; at least one repetition runs
 */
record RepeatedWork(LongSupplier nanos, Duration level) {

    /** A bound for a GPU whose temperature creeps up for minutes. */
    private static final Duration MOST = Duration.ofSeconds(20);

    /**
     * A result of one repetition.
     *
     * @param celsius temperature of the GPU at its end
     * @param after time since the first repetition began
     */
    record Repetition<R>(R result, Reading<Long> celsius, Duration after) {}

    /** The repetitions of one GPU that are kept. */
    private static final class Kept<R> {

        private Optional<Repetition<R>> firstWrong = Optional.empty();
        private Optional<Repetition<R>> last = Optional.empty();

        void add(Repetition<R> repetition, Predicate<R> right) {
            if (firstWrong.isEmpty() && !right.test(repetition.result())) {
                firstWrong = Optional.of(repetition);
            }
            last = Optional.of(repetition);
        }

        List<Repetition<R>> list() {
            List<Repetition<R>> list = new ArrayList<>(firstWrong.stream().toList());
            last.filter(repetition -> !firstWrong.equals(last)).ifPresent(list::add);
            return list;
        }
    }

    /**
     * Returns the repetitions of each GPU, in the order of the work; none for one without work.
     *
     * @param works the work of each GPU; GPUs with the same work do it at the same time
     * @param measure runs work on the GPUs with these numbers; blocks
     * @param celsius returns the temperatures of all GPUs
     * @param stopped asked before each repetition: true ends the work
     * @param wrong receives each repetition that is not right, with the number of its GPU
     */
    <W, R> List<List<Repetition<R>>> run(
            List<Optional<W>> works,
            BiFunction<W, List<Integer>, List<Reading<R>>> measure,
            Supplier<List<Reading<Long>>> celsius,
            BooleanSupplier stopped,
            Predicate<R> right,
            BiConsumer<Integer, Repetition<R>> wrong) {
        Map<W, List<Integer>> groups = new LinkedHashMap<>();
        List<Kept<R>> kept = new ArrayList<>();
        for (int i = 0; i < works.size(); i++) {
            int number = i;
            kept.add(new Kept<>());
            works.get(i)
                    .ifPresent(work -> groups.computeIfAbsent(work, unused -> new ArrayList<>())
                            .add(number));
        }
        long began = nanos.getAsLong();
        long risen = began;
        long[] highest = new long[works.size()];
        long now = began;
        while (!groups.isEmpty() && !stopped.getAsBoolean() && now - began < MOST.toNanos()) {
            for (Map.Entry<W, List<Integer>> group : groups.entrySet()) {
                List<Reading<R>> results = measure.apply(group.getKey(), group.getValue());
                List<Reading<Long>> warm = celsius.get();
                now = nanos.getAsLong();
                for (int i = 0; i < results.size(); i++) {
                    int gpu = group.getValue().get(i);
                    Duration after = Duration.ofNanos(now - began);
                    results.get(i).asOptional().ifPresent(result -> {
                        Repetition<R> repetition = new Repetition<>(result, warm.get(gpu), after);
                        kept.get(gpu).add(repetition, right);
                        if (!right.test(result)) {
                            wrong.accept(gpu, repetition);
                        }
                    });
                    long degrees = warm.get(gpu).asOptional().orElse(0L);
                    if (degrees > highest[gpu]) {
                        highest[gpu] = degrees;
                        risen = now;
                    }
                }
            }
            if (now - risen >= level.toNanos()) {
                break;
            }
        }
        return kept.stream().map(Kept::list).toList();
    }
}
