package dev.gpuwarden.checks.access;

import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.port.ComputeDriver;
import dev.gpuwarden.core.util.Mib;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** The choice of the process in which work on GPUs runs. Thread-safe. */
public final class Isolation {

    /** The setting, with values as they are written in YAML. */
    public enum Mode {
        /** This process, until something speaks against it. */
        auto,
        process,
        child
    }

    /** Room for libcuda, a context and pinned memory: 445 MiB on an H200 and 459 MiB on an H100, with driver 580. */
    static final long LEAST_BYTES = 512L << 20;

    private final Mode mode;
    private final BooleanSupplier crashed;
    private final Supplier<Reading<Long>> memoryLeft;
    /** The first CUDA error that stays with this process; 0 if there was none. */
    private volatile int poison;

    /**
     * @param crashed whether a fault of a crash during a check is current
     * @param memoryLeft bytes that this process may still take; absent where it has no limit
     */
    public Isolation(Mode mode, BooleanSupplier crashed, Supplier<Reading<Long>> memoryLeft) {
        this.mode = mode;
        this.crashed = crashed;
        this.memoryLeft = memoryLeft;
    }

    /** Records a CUDA error of work in this process. */
    void failed(int code) {
        if (ComputeDriver.poisons(code) && poison == 0) {
            poison = code;
        }
    }

    /** Returns why work runs in a child process now; empty if it runs in this one. Reads files. */
    Optional<String> childBecause() {
        return childBecause(mode, poison, crashed.getAsBoolean(), memoryLeft.get());
    }

    static Optional<String> childBecause(Mode mode, int poison, boolean crashed, Reading<Long> memoryLeft) {
        if (mode != Mode.auto) {
            return Optional.of("--check.isolation=child").filter(why -> mode == Mode.child);
        }
        if (poison != 0) {
            return Optional.of("CUDA error " + poison + " spoiled the context of the daemon's process");
        }
        if (crashed) {
            return Optional.of("a check has crashed before, and its fault " + CrashedChecks.EVENT + " is current");
        }
        return tooLittle(memoryLeft);
    }

    /** Returns why CUDA lacks memory in this process; empty where there is enough, or no limit. */
    static Optional<String> tooLittle(Reading<Long> memoryLeft) {
        return memoryLeft
                .asOptional()
                .filter(left -> left < LEAST_BYTES)
                .map(left -> "the memory limit of the daemon leaves " + Mib.text(left) + ", and CUDA needs "
                        + (LEAST_BYTES >> 20));
    }
}
