package dev.gpuwarden.nat.nvml;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.nat.lib.NativeMemory;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The library between its start and its end. It may start several times, since only a new start sees GPUs that came
 * back. Handles belong to one start; {@link #generation} shows whether one is still valid.
 */
public final class NvmlSession {

    // nvml.h 13.3, NVML_INIT_FLAG_NO_GPUS: a node that has lost all its GPUs still starts, and then reports zero GPUs.
    private static final int NO_GPUS = 1;

    /**
     * nvml.h 13.3, NVML_INIT_FLAG_NO_ATTACH. Measured with driver 580.159.04: without it, the start opens the device file of
     * every GPU until the shutdown. With it, a handle opens the file of its own GPU.
     */
    private static final int NO_ATTACH = 2;

    private final NvmlLibrary library;
    private volatile int generation;
    /** Null while all GPUs are open. */
    private volatile @Nullable KeptGpus kept;

    private boolean running;

    public NvmlSession(NvmlLibrary library) {
        this.library = library;
    }

    public NvmlLibrary library() {
        return library;
    }

    /** Returns a number that grows with every start. */
    public int generation() {
        return generation;
    }

    /** Starts the library. Blocks in the driver, and a second caller waits. */
    public synchronized int start() {
        int code = initialise();
        if (code == NvmlReturn.SUCCESS) {
            running = true;
            generation++;
        }
        return code;
    }

    /** Ends the library and starts it again. */
    public synchronized int restart() {
        stop();
        kept = null;
        return start();
    }

    /** Ends the library and starts it again, so that it opens these GPUs alone. Without any, it stays ended. */
    public synchronized int restartWith(KeptGpus gpus) {
        stop();
        kept = gpus;
        return gpus.byIndex().isEmpty() ? NvmlReturn.SUCCESS : start();
    }

    public synchronized void stop() {
        if (running) {
            running = false;
            library.call(NvmlSymbol.SHUTDOWN, "");
        }
    }

    public Reading<Long> handle(int index) {
        KeptGpus only = kept;
        return only == null ? handle(NvmlSymbol.HANDLE_BY_INDEX, "up", index) : keptHandle(only.pci(index));
    }

    public Reading<Long> handle(String uuid) {
        KeptGpus only = kept;
        // The search by UUID opens the GPUs that come before.
        return only == null ? handle(NvmlSymbol.HANDLE_BY_UUID, uuid) : keptHandle(only.pci(uuid));
    }

    private Reading<Long> keptHandle(Optional<String> pci) {
        return pci.map(address -> handle(NvmlSymbol.HANDLE_BY_PCI, address))
                .orElseGet(() -> Reading.absent(Absence.RELEASED));
    }

    private Reading<Long> handle(NvmlSymbol symbol, String name) {
        byte[] text = name.getBytes(StandardCharsets.UTF_8);
        try (NativeMemory memory = NativeMemory.allocate(text.length + 1)) {
            memory.buffer().put(0, text);
            return handle(symbol, "pp", memory.address());
        }
    }

    public Reading<Long> migHandle(long device, int migIndex) {
        return handle(NvmlSymbol.MIG_HANDLE, "pup", device, migIndex);
    }

    private Reading<Long> handle(NvmlSymbol symbol, String signature, long... key) {
        try (NativeMemory out = NativeMemory.allocate(8)) {
            long[] arguments = java.util.Arrays.copyOf(key, key.length + 1);
            arguments[key.length] = out.address();
            int code = library.call(symbol, signature, arguments);
            return code == NvmlReturn.SUCCESS ? Reading.of(out.buffer().getLong(0)) : library.absent(symbol, code);
        }
    }

    private int initialise() {
        if (kept != null) {
            return library.call(NvmlSymbol.INIT_WITH_FLAGS, "u", NO_GPUS | NO_ATTACH);
        }
        int code = library.call(NvmlSymbol.INIT_WITH_FLAGS, "u", NO_GPUS);
        boolean unknown = code == NvmlReturn.FUNCTION_NOT_FOUND || code == NvmlReturn.INVALID_ARGUMENT;
        return unknown ? library.call(NvmlSymbol.INIT_V2, "") : code;
    }
}
