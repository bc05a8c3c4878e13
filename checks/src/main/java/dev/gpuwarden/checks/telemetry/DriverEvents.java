package dev.gpuwarden.checks.telemetry;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.port.Driver;
import dev.gpuwarden.core.port.Driver.DriverEvent;
import dev.gpuwarden.core.port.Driver.EventStream;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The events of whichever driver is open. After the driver is opened again, its events are received from then on. For
 * one thread.
 */
public final class DriverEvents {

    private final Supplier<Optional<Driver>> drivers;
    private @Nullable Driver listenedTo;
    private Reading<EventStream> stream = Reading.absent(Absence.PENDING);

    DriverEvents(Supplier<Optional<Driver>> drivers) {
        this.drivers = drivers;
    }

    /**
     * Waits for an event; empty if none came before the timeout. Absent without waiting if the driver cannot deliver
     * events now; a later call may succeed. Blocks in the driver.
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

    /** Closes the stream of events, until the next call of {@link #await}. */
    public void end() {
        stream.asOptional().ifPresent(EventStream::close);
        stream = Reading.absent(Absence.PENDING);
    }
}
