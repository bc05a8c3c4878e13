package dev.gpuwarden.aggregator.cel;

import dev.cel.common.CelErrorCode;
import dev.cel.runtime.CelEvaluationException;
import dev.gpuwarden.aggregator.cel.BoundedRuntime.Prices;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The cost of one evaluation so far, which ends the evaluation when it is too high. A unit is about one character that is read.
 * A character that is created counts {@link Prices#CREATED} times. For one thread.
 */
public final class Cost {

    /** An event's message of 16,384 characters against a pattern of 60 takes an eighth of this. */
    static final long MOST_UNITS = 4_000_000;

    /** The limit of the thread's processor time, which a busy machine does not shorten. */
    static final Duration MOST_TIME = Duration.ofMillis(100);

    /** The units between two readings of the clock. */
    private static final long CLOCK_UNITS = 100_000;

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final ThreadLocal<@Nullable Cost> CURRENT = new ThreadLocal<>();

    /** The end, counted from the first reading of the clock, which a cheap evaluation never takes. */
    private long endNanos;

    private long units;
    private long clockAt = CLOCK_UNITS;

    /**
     * The immediate end of an evaluation. CEL treats exceptions as values, which `||` may ignore and each step of a loop would
     * raise again.
     */
    private static final class Exceeded extends Error {
        private static final long serialVersionUID = 1L;

        Exceeded(String message) {
            super(message, null, false, false);
        }
    }

    private Cost() {}

    /** An evaluation that {@link #within} bounds. */
    public interface Evaluation {
        Object run() throws CelEvaluationException;
    }

    /**
     * Runs an evaluation of a program of {@link BoundedRuntime}.
     *
     * @throws CelEvaluationException if the evaluation fails, or costs too much ({@link #exceeded})
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

    /** Returns whether an evaluation failed because it costs too much. */
    public static boolean exceeded(CelEvaluationException e) {
        return e.getCause() instanceof Exceeded || e.getErrorCode() == CelErrorCode.ITERATION_BUDGET_EXCEEDED;
    }

    /** Returns the exceeded limit and the remedy, for an exception for which {@link #exceeded} holds. */
    public static String why(CelEvaluationException e) {
        return e.getCause() instanceof Exceeded cause
                ? cause.getMessage() + ": create no long texts, and match each text once"
                : "it takes too many steps: walk over each list once";
    }

    /** Returns the cost of the evaluation that this thread runs. */
    static Cost current() {
        Cost cost = CURRENT.get();
        if (cost == null) {
            throw new IllegalStateException("an expression is evaluated outside Cost.within");
        }
        return cost;
    }

    /** Returns the units that are left before the evaluation ends. */
    long left() {
        return Math.max(0, MOST_UNITS - units);
    }

    void charge(long more) {
        units += more + 1;
        if (units > MOST_UNITS || units < 0) {
            throw new Exceeded("it reads or creates more than " + MOST_UNITS + " characters and entries");
        } else if (units >= clockAt) {
            boolean first = clockAt == CLOCK_UNITS;
            clockAt = units + CLOCK_UNITS;
            if (first) {
                endNanos = THREADS.getCurrentThreadCpuTime() + MOST_TIME.toNanos();
            } else if (THREADS.getCurrentThreadCpuTime() > endNanos) {
                throw new Exceeded("it takes more than " + MOST_TIME.toMillis() + " ms of processor time");
            }
        }
    }
}
