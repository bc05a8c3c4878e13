package dev.gpuwarden.nat.cuda;

import dev.gpuwarden.core.port.ComputeDriver.CopyWork;
import dev.gpuwarden.nat.lib.Invocation;
import dev.gpuwarden.nat.lib.NativeMemory;

/** One copy, enqueued back to back as often as a measurement takes. */
record RepeatedCopy(CudaLibrary library, Stopwatch stopwatch, CopyWork work) {

    /** Bound on copies in one measurement, for copies that seem to take no time. */
    private static final int MOST_COPIES = 100_000;

    /**
     * Returns bytes a second; no finite number if a copy takes no time. The first copy is not measured, since it maps the memory; the second
     * one gives the count.
     *
     * @param arguments of the copy, with the stopwatch's stream
     */
    double rate(CudaSymbol copy, long... arguments) throws CudaException {
        seconds(copy, arguments, 1);
        double once = seconds(copy, arguments, 1);
        if (!(once > 0)) {
            return work.bytes() / once;
        }
        double fitting = work.busy().toNanos() / 1e9 / once;
        int count = (int) Math.max(1, Math.min(MOST_COPIES, fitting));
        return count * (double) work.bytes() / seconds(copy, arguments, count);
    }

    private double seconds(CudaSymbol copy, long[] arguments, int count) throws CudaException {
        try (NativeMemory memory = NativeMemory.allocate(Invocation.bytes(CudaLibrary.signature(copy)))) {
            Invocation call = library.prepare(copy, memory, 0);
            for (int i = 0; i < arguments.length; i++) {
                call.set(i, arguments[i]);
            }
            return stopwatch.seconds(() -> {
                for (int i = 0; i < count; i++) {
                    CudaLibrary.check(copy, call.callInt());
                }
            });
        }
    }
}
