package dev.gpuwarden.core.port;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import java.util.function.Function;

/**
 * The outcome of opening a library.
 *
 * @param <D> what an open library is used by, such as a {@link Driver}
 */
public sealed interface Opening<D> {

    record Opened<D>(D driver) implements Opening<D> {}

    /**
     * No driver. The detail names the library and the places that were searched, where it is missing.
     *
     * @param reason the missing part
     * @param code the library's return code (nvmlReturn, CUresult, ncclResult); 0 where it was never called
     * @param detail file or function and its answer, in words
     */
    record Unavailable<D>(Reason reason, int code, String detail) implements Opening<D> {}

    /** The reason for a missing driver. */
    enum Reason {
        /** No driver library on this node. */
        LIBRARY_MISSING,
        /** A file exists but cannot be used: wrong architecture, no driver library, a function missing. */
        LIBRARY_UNUSABLE,
        /** The library exists, but the kernel driver is not loaded (nvmlReturn 9). */
        DRIVER_NOT_LOADED,
        /** Library and kernel driver have different versions: upgraded under a running system (nvmlReturn 18). */
        VERSION_MISMATCH,
        /** This process lacks the permission to use the driver (nvmlReturn 4, or no device nodes). */
        NO_PERMISSION,
        /** The library returned another error, or did not answer. */
        FAILED
    }

    /** Returns the driver as a reading; its cause of absence is NOT_SUPPORTED where this node has no library. */
    default Reading<D> reading() {
        if (this instanceof Opened<D> opened) {
            return Reading.of(opened.driver());
        }
        Unavailable<D> none = (Unavailable<D>) this;
        Absence cause = switch (none.reason()) {
            case LIBRARY_MISSING -> Absence.NOT_SUPPORTED;
            case NO_PERMISSION -> Absence.NO_PERMISSION;
            default -> Absence.FAILED;
        };
        return Reading.absent(cause, none.code(), none.detail());
    }

    /** Returns what the next step makes of an open library; the same cause where there is none. */
    default <R> Opening<R> then(Function<? super D, Opening<R>> next) {
        if (this instanceof Opened<D> opened) {
            return next.apply(opened.driver());
        }
        Unavailable<D> none = (Unavailable<D>) this;
        return new Unavailable<>(none.reason(), none.code(), none.detail());
    }
}
