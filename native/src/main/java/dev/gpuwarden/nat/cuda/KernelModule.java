package dev.gpuwarden.nat.cuda;

import dev.gpuwarden.nat.lib.NativeMemory;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;

/** The kernels of one PTX file, which the driver compiles for its GPU when it loads them. */
final class KernelModule {

    /** More than the longest structure of arguments.h has. */
    private static final int MOST_WORDS = 16;

    private static final int LONGEST_NAME = 64;

    private final Resources resources;
    private final long handle;
    private final NativeMemory name;

    /**
     * Loads a module, which these resources unload. An older driver returns 222, a GPU before compute capability 7.5 returns 209.
     *
     * @param file the PTX file's name without its ending
     */
    KernelModule(Resources resources, String file) throws CudaException {
        this.resources = resources;
        this.name = resources.host(LONGEST_NAME);
        byte[] text = ptx(file);
        try (NativeMemory memory = NativeMemory.allocate(text.length + 1)) {
            memory.buffer().put(0, text);
            this.handle = resources.take(CudaSymbol.MODULE_LOAD, CudaSymbol.MODULE_UNLOAD, memory.address());
        }
    }

    private static byte[] ptx(String file) {
        try (InputStream in = Objects.requireNonNull(KernelModule.class.getResourceAsStream(file + ".ptx"), file)) {
            return in.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    Kernel kernel(String function, long stream) throws CudaException {
        byte[] text = function.getBytes(StandardCharsets.US_ASCII);
        name.fill(0, LONGEST_NAME, (byte) 0);
        name.buffer().put(0, text, 0, Math.min(text.length, LONGEST_NAME - 1));
        long address = resources.ask(CudaSymbol.MODULE_FUNCTION, handle, name.address());
        return new Kernel(resources, address, stream, MOST_WORDS);
    }
}
