package dev.gpuwarden.aggregator.cel;

import dev.cel.common.CelErrorCode;
import dev.cel.runtime.CelEvaluationException;
import dev.gpuwarden.aggregator.cel.BoundedRuntime.Prices;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What one evaluation has cost so far, and its end where that is too much. A unit is about a character that is looked at; one that
 * is made counts {@link Prices#CREATED} times. For one thread.
 */
public final class Cost {

    /** An event's message of 16,384 characters against a pattern of 60 takes an eighth of this. */
    static final long MOST_UNITS = 4_000_000;

    /** Of the thread's processor time, so that a busy machine ends nothing. */
    static final Duration MOST_TIME = Duration.ofMillis(100);

    /** Between two looks at the clock. */
    private static final long LOOK_UNITS = 100_000;

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final ThreadLocal<@Nullable Cost> CURRENT = new ThreadLocal<>();

    /** From the first look at the clock, which a cheap evaluation never takes. */
    private long endNanos;

    private long units;
    private long lookAt = LOOK_UNITS;

    /** Ends an evaluation at once: CEL takes exceptions for values, which `||` may pass over and loops would meet again and again. */
    private static final class Exceeded extends Error {
        private static final long serialVersionUID = 1L;

        Exceeded(String message) {
            super(message, null, false, false);
        }
    }

    private Cost() {}

    /** What is evaluated within a bound. */
    public interface Evaluation {
        Object run() throws CelEvaluationException;
    }

    /**
     * Runs an evaluation of a program of {@link BoundedRuntime}.
     *
     * @throws CelEvaluationException where the evaluation fails, or costs too much ({@link #exceeded})
     */
    public static Object within(Evaluation evaluation) throws CelEvaluationException {
        Cost cost = new Cost();
        CURRENT.set(cost);
        try {
            return evaluation.run();
        } catch (Exceeded e) {
            throw new CelEvaluationException(String.valueOf(e.getMessage()), e);
        } catch (StackOverflowError e) {
            throw new CelEvaluationException("the value is nested too deeply", e);
        } finally {
            CURRENT.remove();
        }
    }

    /** Whether an evaluation failed because it costs too much. */
    public static boolean exceeded(CelEvaluationException e) {
        return e.getCause() instanceof Exceeded || e.getErrorCode() == CelErrorCode.ITERATION_BUDGET_EXCEEDED;
    }

    /** Of one for which {@link #exceeded} holds: what it had too much of, and what mends it. */
    public static String why(CelEvaluationException e) {
        return e.getCause() instanceof Exceeded cause
                ? cause.getMessage() + ": make no long texts, and match each once"
                : "it takes too many steps: walk over each list once";
    }

    /** That of the evaluation that this thread runs. */
    static Cost current() {
        Cost cost = CURRENT.get();
        if (cost == null) {
            throw new IllegalStateException("an expression is evaluated outside Cost.within");
        }
        return cost;
    }

    /** What is left before the evaluation ends. */
    long left() {
        return Math.max(0, MOST_UNITS - units);
    }

    void charge(long more) {
        units += more + 1;
        if (units > MOST_UNITS || units < 0) {
            throw new Exceeded("it looks at or makes more than " + MOST_UNITS + " characters and entries");
        } else if (units >= lookAt) {
            boolean first = lookAt == LOOK_UNITS;
            lookAt = units + LOOK_UNITS;
            if (first) {
                endNanos = THREADS.getCurrentThreadCpuTime() + MOST_TIME.toNanos();
            } else if (THREADS.getCurrentThreadCpuTime() > endNanos) {
                throw new Exceeded("it takes more than " + MOST_TIME.toMillis() + " ms of processor time");
            }
        }
    }
}
