package dev.gpuwarden.core.check;

import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/** The permission to give work to GPUs. Checks with a load request it for each run. Thread-safe. */
public interface GpuAccess {

    /** Grants every request and withdraws none. */
    GpuAccess OPEN = (check, load, gpus) ->
            gpus.stream().<Answer>map(gpu -> new OpenGrant()).toList();

    /** Returns the permission of a program; one that refuses every GPU where the program has none. */
    static GpuAccess of(Reading<GpuAccess> source) {
        return source instanceof Reading.Absent<GpuAccess> none
                ? (check, load, gpus) -> gpus.stream()
                        .<Answer>map(gpu -> new Refusal("not-permitted", none.text()))
                        .toList()
                : source.asOptional().orElseThrow();
    }

    /**
     * Requests GPUs for one run of a check. May block for seconds, until it is known who holds them. The caller closes each
     * grant when it has freed the memory that it took.
     *
     * @param check the check's ID
     * @return one answer for each GPU, in order
     */
    List<Answer> request(String check, GpuLoad load, List<GpuSnapshot> gpus);

    /**
     * Reports an error of work in this process, which may spoil the process for later work.
     *
     * @param code the CUresult; 0 where there was none
     */
    default void failed(int code) {}

    /** The answer for one GPU. */
    sealed interface Answer {}

    /** A permission, which may be withdrawn. */
    non-sealed interface Grant extends Answer, AutoCloseable {
        /** Returns why the work must end now; empty while it may go on. Once it is withdrawn, it stays so. Does not block. */
        Optional<Refusal> withdrawn();

        @Override
        void close();

        /**
         * Ends the grant later, because a call of its work hangs in the driver and may still hold memory of the GPU.
         *
         * @param returned asked by any thread: true once that call has returned; must not block
         */
        default void closeWhen(BooleanSupplier returned) {
            close();
        }
    }

    /** Why a GPU gets no work. The check of the GPU is SKIPPED with this code and text. */
    record Refusal(String code, String text) implements Answer {}

    /** A grant that is never withdrawn. */
    record OpenGrant() implements Grant {
        @Override
        public Optional<Refusal> withdrawn() {
            return Optional.empty();
        }

        @Override
        public void close() {}
    }
}
