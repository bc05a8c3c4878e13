package dev.gpuwarden.daemon.uplink;

import java.time.Duration;
import java.util.function.DoubleSupplier;

/** How long to wait after so many failures in a row: ever longer, and never all nodes at the same time. */
public final class Backoff {

    static final Duration FIRST = Duration.ofSeconds(1);
    static final Duration LONGEST = Duration.ofMinutes(2);

    private final Duration first;
    private final DoubleSupplier random;
    private int failures;

    /** @param random from 0 to 1 */
    public Backoff(DoubleSupplier random) {
        this(FIRST, random);
    }

    /**
     * @param first after one failure, as a whole
     * @param random from 0 to 1
     */
    Backoff(Duration first, DoubleSupplier random) {
        this.first = first;
        this.random = random;
    }

    public void succeeded() {
        failures = 0;
    }

    /** Between half of the time that doubles with each failure and the whole of it. */
    public Duration failed() {
        long doubled = first.toNanos() << Math.min(failures, 10);
        failures++;
        long whole = Math.min(doubled, LONGEST.toNanos());
        return Duration.ofNanos((long) (whole * (0.5 + random.getAsDouble() / 2)));
    }

    public int failures() {
        return failures;
    }
}
