package dev.gpuwarden.nat.nvml;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.port.Capability;
import dev.gpuwarden.nat.lib.BoundLibrary;
import dev.gpuwarden.nat.lib.CText;
import dev.gpuwarden.nat.lib.Invocation;
import dev.gpuwarden.nat.lib.NativeMemory;
import dev.gpuwarden.nat.lib.SharedLibrary;
import dev.gpuwarden.nat.lib.Signature;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The loaded libnvidia-ml.so.1. */
public final class NvmlLibrary extends BoundLibrary<NvmlSymbol> {

    private static final NvmlSymbol[] SYMBOLS = NvmlSymbol.values();

    public NvmlLibrary(SharedLibrary library) {
        super(library, SYMBOLS);
    }

    /** Returns the symbol, or the nearest of its fall-backs that the library exports. */
    public Optional<NvmlSymbol> best(NvmlSymbol symbol) {
        Optional<NvmlSymbol> candidate = Optional.of(symbol);
        while (candidate.isPresent() && !has(candidate.get())) {
            candidate = candidate.get().fallback();
        }
        return candidate;
    }

    /** Announces a call by {@link #address}. Returns false after {@link #close}: no address is valid then. */
    public boolean enter() {
        return library.enter();
    }

    public void leave() {
        library.leave();
    }

    /** Unloads the library after the calls under way, so that its next opening reads the file again. */
    public void close() {
        library.close();
    }

    /**
     * Calls a function once. Returns {@link NvmlReturn#FUNCTION_NOT_FOUND} where it is missing, and
     * {@link NvmlReturn#UNINITIALIZED} after {@link #close}, as the library itself would.
     */
    public int call(NvmlSymbol symbol, String signature, long... arguments) {
        if (!has(symbol)) {
            return NvmlReturn.FUNCTION_NOT_FOUND;
        }
        if (!enter()) {
            return NvmlReturn.UNINITIALIZED;
        }
        try {
            return (int) Invocation.once(Signature.of(signature), address(symbol), arguments);
        } finally {
            leave();
        }
    }

    /** Returns the text that a call writes to a buffer of this size: {@code f(char *, unsigned length)}. */
    public Reading<String> text(NvmlSymbol symbol, int bytes) {
        try (NativeMemory memory = NativeMemory.allocate(bytes + 1)) {
            return read(symbol, call(symbol, "pu", memory.address(), bytes), memory, bytes);
        }
    }

    /** Returns such a text of a device: {@code f(device, char *, unsigned length)}. */
    public Reading<String> text(NvmlSymbol symbol, long device, int bytes) {
        try (NativeMemory memory = NativeMemory.allocate(bytes + 1)) {
            return read(symbol, call(symbol, "ppu", device, memory.address(), bytes), memory, bytes);
        }
    }

    /** Returns a 32-bit number of a device: {@code f(device, unsigned *)}. */
    public Reading<Integer> number(NvmlSymbol symbol, long device) {
        try (NativeMemory out = NativeMemory.allocate(8)) {
            int code = call(symbol, "pp", device, out.address());
            return code == NvmlReturn.SUCCESS ? Reading.of(out.buffer().getInt(0)) : absent(symbol, code);
        }
    }

    /** Returns the absence for a return code of this function. */
    public <T> Reading<T> absent(NvmlSymbol symbol, int code) {
        if (!has(symbol)) {
            return Reading.absent(Absence.NO_SYMBOL, 0, symbol.symbol());
        }
        return Reading.absent(Absence.ofNvmlReturn(code), code, symbol.symbol());
    }

    /** Returns the library's text for a return code, with its number. */
    public String describe(int code) {
        String words = words(code);
        return words.isEmpty() ? "code " + code : code + " (" + words + ")";
    }

    /** The text is in the library itself, so it is copied before the call ends. */
    private String words(int code) {
        if (!has(NvmlSymbol.ERROR_STRING) || !enter()) {
            return "";
        }
        try {
            return CText.at(Invocation.once(Signature.of("u"), address(NvmlSymbol.ERROR_STRING), code));
        } finally {
            leave();
        }
    }

    public List<Capability> capabilities() {
        List<Capability> all = new ArrayList<>();
        for (NvmlSymbol symbol : SYMBOLS) {
            boolean there = has(symbol);
            String note = there
                    ? ""
                    : best(symbol).map(s -> s.symbol() + " serves instead").orElse("not in this library");
            all.add(new Capability(symbol.symbol(), symbol.feature(), there, note));
        }
        return List.copyOf(all);
    }

    private Reading<String> read(NvmlSymbol symbol, int code, NativeMemory memory, int bytes) {
        if (code != NvmlReturn.SUCCESS) {
            return absent(symbol, code);
        }
        String text = CText.decode(memory.buffer(), 0, bytes);
        return text.isEmpty() ? Reading.absent(Absence.NO_DATA, 0, symbol.symbol()) : Reading.of(text);
    }
}
