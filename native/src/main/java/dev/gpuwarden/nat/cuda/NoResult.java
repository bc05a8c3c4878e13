package dev.gpuwarden.nat.cuda;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;

/** The end of a measurement without a result, where no call has failed. */
final class NoResult extends RuntimeException {

    private static final long serialVersionUID = 1;

    private final Absence cause;
    private final String detail;

    NoResult(Absence cause, String detail) {
        super(detail, null, false, false);
        this.cause = cause;
        this.detail = detail;
    }

    <T> Reading<T> reading() {
        return Reading.absent(cause, 0, detail);
    }
}
