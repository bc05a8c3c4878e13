package dev.gpuwarden.nat.nvml;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.nat.lib.NativeMemory;
import dev.gpuwarden.nat.process.HiddenFiles;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The library between its start and its end. It may start several times, since only a new start sees GPUs that came
 * back. Handles belong to one start; {@link #generation} shows whether one is still valid.
 */
public final class NvmlSession {

    // nvml.h 13.3, NVML_INIT_FLAG_NO_GPUS: a node that has lost all its GPUs still starts, and then reports zero GPUs.
    private static final int NO_GPUS = 1;

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
        return started(initialise());
    }

    private int started(int code) {
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

    /**
     * Ends the library and starts it again, so that it opens these GPUs alone. Its start opens the device
     * file of every GPU and leaves out those that it cannot open; with NVML_INIT_FLAG_NO_ATTACH it would find no GPU at all (measured
     * with driver 580.159.04).
     *
     * @param others the files of the other GPUs
     * @return the code of the start; absent if the files could not be hidden, and the library stays ended
     */
    public synchronized Reading<Integer> restartWith(KeptGpus gpus, Set<Path> others) {
        stop();
        kept = gpus;
        return HiddenFiles.call(others, this::initialise).map(this::started);
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
        int code = library.call(NvmlSymbol.INIT_WITH_FLAGS, "u", NO_GPUS);
        boolean unknown = code == NvmlReturn.FUNCTION_NOT_FOUND || code == NvmlReturn.INVALID_ARGUMENT;
        return unknown ? library.call(NvmlSymbol.INIT_V2, "") : code;
    }
}
