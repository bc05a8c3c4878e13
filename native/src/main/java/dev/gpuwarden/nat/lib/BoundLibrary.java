package dev.gpuwarden.nat.lib;

import dev.gpuwarden.core.port.Opening;
import dev.gpuwarden.core.port.Opening.Reason;
import dev.gpuwarden.core.port.Opening.Unavailable;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** A loaded library with the address of each of its functions that are called. Thread-safe. */
public abstract class BoundLibrary<F extends Enum<F> & BoundLibrary.Symbol> {

    /** A function of a library. */
    public interface Symbol {

        /** Returns the exported name. */
        String symbol();

        /** Returns whether a library without this function is unusable. */
        default boolean isRequired() {
            return true;
        }
    }

    protected final SharedLibrary library;
    private final long[] addresses;
    /** The exported names of functions without which it is unusable, and that it lacks. */
    private final List<String> missing;

    /** @param functions all of them, in their order */
    protected BoundLibrary(SharedLibrary library, F[] functions) {
        this.library = library;
        this.addresses = Stream.of(functions)
                .mapToLong(each -> library.symbol(each.symbol()))
                .toArray();
        this.missing = Stream.of(functions)
                .filter(each -> each.isRequired() && addresses[each.ordinal()] == 0)
                .map(Symbol::symbol)
                .toList();
    }

    /** Returns the file that the loader took. */
    public final String path() {
        return library.path();
    }

    public final boolean has(F function) {
        return address(function) != 0;
    }

    /** Returns the function's address; 0 where the library lacks it. */
    public final long address(F function) {
        return addresses[function.ordinal()];
    }

    /** Takes the next step of opening a library of this name. One that lacks required functions is unusable. */
    public final <D> Opening<D> ifComplete(String name, Supplier<Opening<D>> next) {
        if (missing.isEmpty()) {
            return next.get();
        }
        String lacks = path() + " is no usable " + name + ": it lacks " + String.join(", ", missing);
        return new Unavailable<>(Reason.LIBRARY_UNUSABLE, 0, lacks);
    }
}
