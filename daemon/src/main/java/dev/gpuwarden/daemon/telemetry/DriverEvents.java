package dev.gpuwarden.daemon.telemetry;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.port.Driver;
import dev.gpuwarden.core.port.Driver.DriverEvent;
import dev.gpuwarden.core.port.Driver.EventStream;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The driver's events, from whichever driver is open: one that is opened anew is listened to from then on. For one thread. */
public final class DriverEvents {

    private final Supplier<Optional<Driver>> drivers;
    private @Nullable Driver listenedTo;
    private Reading<EventStream> stream = Reading.absent(Absence.PENDING);

    DriverEvents(Supplier<Optional<Driver>> drivers) {
        this.drivers = drivers;
    }

    /**
     * Waits at most this long; empty when nothing came. Absent at once where the driver cannot be listened to now; asked again,
     * it may be. Blocks in the driver.
     */
    public Reading<Optional<DriverEvent>> await(Duration timeout) {
        Driver open = drivers.get().orElse(null);
        if (open == null) {
            return Reading.absent(Absence.PENDING, 0, "no driver is open");
        }
        if (open != listenedTo || stream instanceof Reading.Absent<?>) {
            end();
            listenedTo = open;
            stream = open.events();
        }
        return stream.map(events -> events.await(timeout));
    }

    /** Listens no more, until asked again. */
    public void end() {
        stream.asOptional().ifPresent(EventStream::close);
        stream = Reading.absent(Absence.PENDING);
    }
}
