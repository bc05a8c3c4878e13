package dev.gpuwarden.nat.nvml;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.model.Reading.Present;
import dev.gpuwarden.core.port.Driver.DriverEvent;
import dev.gpuwarden.core.port.Driver.EventStream;
import dev.gpuwarden.nat.lib.NativeMemory;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The events of all GPUs that can be registered. It waits in slices, so that it notices a close. It registers again
 * after a restart of the library, which discards its sets. One thread waits; any thread may close.
 */
public final class NvmlEvents implements EventStream {

    // nvml.h 13.3, nvmlEventType*: single- and double-bit ECC, XID, power source, MIG change, single-bit storm, page
    // retirement and its failure, poison (not fatal, fatal), GPU unavailable, recovery action. P-state and clock
    // changes
    // are left out: they come by the hundred on a busy GPU.
    private static final long WANTED =
            0x1 | 0x2 | 0x8 | 0x80 | 0x100 | 0x200 | 0x400 | 0x800 | 0x1000 | 0x2000 | 0x4000 | 0x8000;

    private static final long SLICE_MILLIS = 1000;
    private static final int NO_INSTANCE = -1;
    private static final CStruct DATA = NvmlStructs.of("nvmlEventData_t");

    private final NvmlSession session;
    private final NvmlLibrary library;
    private final GpuReader gpus;
    private final ReentrantLock inUse = new ReentrantLock();
    private final CountDownLatch closed = new CountDownLatch(1);
    private final Map<Long, Reading<String>> uuids = new HashMap<>();
    private long set;
    private int generation;

    private NvmlEvents(NvmlSession session, GpuReader gpus) {
        this.session = session;
        this.library = session.library();
        this.gpus = gpus;
    }

    public static Reading<EventStream> open(NvmlSession session, GpuReader gpus, int gpuCount) {
        NvmlEvents events = new NvmlEvents(session, gpus);
        Reading<Boolean> registered = events.register(gpuCount);
        return registered.map(ok -> events);
    }

    @Override
    public Optional<DriverEvent> await(Duration timeout) {
        long end = System.nanoTime() + timeout.toNanos();
        inUse.lock();
        try {
            return awaitUntil(end);
        } finally {
            inUse.unlock();
            if (isClosed()) {
                releaseUnlessInUse();
            }
        }
    }

    @Override
    public void close() {
        closed.countDown();
        releaseUnlessInUse();
    }

    /**
     * Frees the set. A thread that waits in the set frees it at the end of its wait: where the driver hangs, the set is
     * never freed.
     */
    private void releaseUnlessInUse() {
        if (inUse.tryLock()) {
            try {
                if (set != 0 && generation == session.generation()) {
                    library.call(NvmlSymbol.EVENT_SET_FREE, "p", set);
                }
                set = 0;
            } finally {
                inUse.unlock();
            }
        }
    }

    private Optional<DriverEvent> awaitUntil(long end) {
        while (!isClosed()) {
            long left = Math.max(0, millisUntil(end));
            long slice = Math.min(left, SLICE_MILLIS);
            if (set == 0 || generation != session.generation()) {
                set = 0;
                register(gpus.count().asOptional().orElse(0));
            }
            Optional<DriverEvent> event = set == 0 ? pause(slice) : waitOnce(slice);
            if (event.isPresent() || left == slice) {
                return event;
            }
        }
        return Optional.empty();
    }

    private boolean isClosed() {
        return closed.getCount() == 0;
    }

    private static long millisUntil(long end) {
        return TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
    }

    /** Registers every GPU that accepts it; absent where none does. */
    private Reading<Boolean> register(int gpuCount) {
        generation = session.generation();
        uuids.clear();
        try (NativeMemory out = NativeMemory.allocate(8)) {
            int code = library.call(NvmlSymbol.EVENT_SET_CREATE, "p", out.address());
            if (code != NvmlReturn.SUCCESS) {
                return library.absent(NvmlSymbol.EVENT_SET_CREATE, code);
            }
            long created = out.buffer().getLong(0);
            Reading<Boolean> registered = Reading.absent(Absence.NO_DATA, 0, "no GPU to register for events");
            for (int index = 0; index < gpuCount; index++) {
                Reading<Boolean> one = registerGpu(index, created);
                registered = registered instanceof Present<Boolean> ? registered : one;
            }
            if (registered instanceof Present<Boolean>) {
                set = created;
            } else {
                library.call(NvmlSymbol.EVENT_SET_FREE, "p", created);
            }
            return registered;
        }
    }

    private Reading<Boolean> registerGpu(int index, long into) {
        Reading<Long> handle = session.handle(index);
        if (!(handle instanceof Present<Long> present)) {
            return handle.map(h -> true);
        }
        long device = present.value();
        try (NativeMemory out = NativeMemory.allocate(8)) {
            int code = library.call(NvmlSymbol.SUPPORTED_EVENTS, "pp", device, out.address());
            if (code != NvmlReturn.SUCCESS) {
                return library.absent(NvmlSymbol.SUPPORTED_EVENTS, code);
            }
            long events = WANTED & out.buffer().getLong(0);
            if (events == 0) {
                return Reading.absent(Absence.NOT_SUPPORTED, 0, NvmlSymbol.SUPPORTED_EVENTS.symbol());
            }
            code = library.call(NvmlSymbol.REGISTER_EVENTS, "ppp", device, events, into);
            if (code != NvmlReturn.SUCCESS) {
                return library.absent(NvmlSymbol.REGISTER_EVENTS, code);
            }
        }
        uuids.put(device, gpus.uuid(device, "GPU " + index));
        return Reading.of(true);
    }

    private Optional<DriverEvent> waitOnce(long millis) {
        NvmlSymbol wait = library.best(NvmlSymbol.EVENT_SET_WAIT).orElse(NvmlSymbol.EVENT_SET_WAIT);
        try (NativeMemory out = NativeMemory.allocate(DATA.size())) {
            ByteBuffer data = out.buffer();
            data.putInt(DATA.offset("gpuInstanceId"), NO_INSTANCE);
            int code = library.call(wait, "ppu", set, out.address(), millis);
            if (code == NvmlReturn.SUCCESS) {
                return Optional.of(event(data));
            }
            if (code == NvmlReturn.TIMEOUT) {
                return Optional.empty();
            }
            // Not a timeout, so the call may return immediately again and again: a lost GPU, or a library that was shut
            // down.
            if (code == NvmlReturn.UNINITIALIZED || code == NvmlReturn.INVALID_ARGUMENT) {
                set = 0;
            }
            return pause(millis);
        }
    }

    private Optional<DriverEvent> pause(long millis) {
        try {
            closed.await(millis, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return Optional.empty();
    }

    private DriverEvent event(ByteBuffer data) {
        long device = data.getLong(DATA.offset("device"));
        int instance = data.getInt(DATA.offset("gpuInstanceId"));
        return new DriverEvent(
                uuids.getOrDefault(device, Reading.absent(Absence.NO_DATA, 0, "an event without a known GPU")),
                data.getLong(DATA.offset("eventType")),
                data.getLong(DATA.offset("eventData")),
                instance == NO_INSTANCE ? Reading.absent(Absence.NOT_SUPPORTED) : Reading.of(instance));
    }
}
