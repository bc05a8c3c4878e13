package dev.gpuwarden.nccl.group;

import java.io.IOException;
import java.time.Duration;

/** The meeting of all processes of a run. */
public final class Rendezvous {

    private Rendezvous() {}

    /**
     * Waits for all processes.
     *
     * @param limit of the wait
     * @throws LateException after the limit
     */
    public static Exchange join(Place place, Duration limit) throws IOException {
        if (place.meeting().isEmpty()) {
            return Exchange.alone();
        }
        return place.process() == 0
                ? Hub.open(place.meeting().get(), place.processes(), limit)
                : Spoke.open(place, place.meeting().get(), limit);
    }

    /** Not all processes came within the limit. */
    public static final class LateException extends IOException {
        private static final long serialVersionUID = 1;

        LateException(String message) {
            super(message);
        }
    }
}
