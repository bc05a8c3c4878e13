package dev.gpuwarden.daemon.kernlog;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.port.Driver.DriverEvent;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Function;

/**
 * How the driver's events are listened to, by one thread.
 *
 * @param await waits so long at most; absent where the driver cannot be listened to now
 * @param end listens no more
 */
public record DriverFeed(Function<Duration, Reading<Optional<DriverEvent>>> await, Runnable end) {

    /** There is nobody to listen to. */
    public static final DriverFeed NONE =
            new DriverFeed(timeout -> Reading.absent(Absence.NOT_SUPPORTED, 0, "no driver is listened to"), () -> {});
}
