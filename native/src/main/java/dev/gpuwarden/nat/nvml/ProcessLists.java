package dev.gpuwarden.nat.nvml;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.GpuIdentity.MigDevice;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.model.Reading.Absent;
import dev.gpuwarden.core.model.Reading.Present;
import dev.gpuwarden.core.process.GpuProcess;
import dev.gpuwarden.core.process.GpuProcess.Type;
import dev.gpuwarden.nat.lib.NativeMemory;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/** The processes that hold a GPU, from three lists of the library for the GPU itself and for each of its partitions. */
public final class ProcessLists {

    // nvml.h 13.3: what the library writes where it has no number.
    private static final long NO_BYTES = -1L;
    private static final int NO_INSTANCE = -1;

    /** Kernel limit of process ids (PID_MAX_LIMIT on 64-bit kernels). */
    private static final int MAX_PID = 1 << 22;
    /** Limit on entries: a larger count is false, and no memory is allocated for it. */
    private static final int MAX_ENTRIES = 1 << 16;
    /** The same bound as for the memory readings of a GPU. Use is compared with the memory of the card where both are known. */
    private static final long MAX_BYTES = 1L << 44;
    /** Room for entries that are added between the count and the list. */
    private static final int SLACK = 8;

    private static final int ATTEMPTS = 5;

    /**
     * Kinds in the order of precedence where several lists contain a process: an MPS client is listed as a compute
     * process too.
     */
    private static final List<Kind> KINDS = List.of(
            new Kind(NvmlSymbol.MPS_PROCESSES_V3, Type.MPS),
            new Kind(NvmlSymbol.COMPUTE_PROCESSES_V3, Type.COMPUTE),
            new Kind(NvmlSymbol.GRAPHICS_PROCESSES_V3, Type.GRAPHICS));

    private static final CStruct ENTRY = NvmlStructs.of("nvmlProcessInfo_v2_t");
    private static final int BYTES_AT = ENTRY.offset("usedGpuMemory");
    private static final int GPU_INSTANCE_AT = ENTRY.offset("gpuInstanceId");
    private static final int COMPUTE_INSTANCE_AT = ENTRY.offset("computeInstanceId");

    private record Kind(NvmlSymbol newest, Type type) {}

    /** A process may hold several partitions of a GPU, each with memory of its own. */
    private record Key(int pid, Optional<Integer> gpuInstance) {}

    private final NvmlSession session;
    private final NvmlLibrary library;
    private final GpuReader gpus;
    private final RefusalLog refusals;

    public ProcessLists(NvmlSession session, GpuReader gpus, RefusalLog refusals) {
        this.session = session;
        this.library = session.library();
        this.gpus = gpus;
        this.refusals = refusals;
    }

    public Reading<List<GpuProcess>> of(int gpuIndex) {
        Reading<Long> handle = session.handle(gpuIndex);
        if (handle instanceof Absent<Long> absent) {
            return Reading.absent(absent.cause(), absent.code(), absent.detail());
        }
        long device = ((Present<Long>) handle).value();
        List<MigDevice> partitions =
                gpus.migMode(device).asOptional().orElse(false) ? gpus.migDevices(device) : List.of();
        Map<Key, GpuProcess> found = new LinkedHashMap<>();
        for (MigDevice partition : partitions) {
            Optional<Long> migHandle =
                    session.migHandle(device, partition.index()).asOptional();
            if (migHandle.isPresent()) {
                Optional<Absent<List<GpuProcess>>> failed =
                        collect(migHandle.get(), partition.uuid(), Optional.of(partition), found);
                if (failed.isPresent()) {
                    return failed.get();
                }
            }
        }
        Optional<Absent<List<GpuProcess>>> failed = collect(device, "GPU " + gpuIndex, Optional.empty(), found);
        // On a partitioned GPU these lists need privileges; the partitions have returned their processes already.
        boolean answeredByPartitions = !partitions.isEmpty()
                && failed.filter(a -> a.code() == NvmlReturn.NO_PERMISSION).isPresent();
        return failed.isPresent() && !answeredByPartitions ? failed.get() : Reading.of(List.copyOf(found.values()));
    }

    /** Adds the entries of a device's three lists; returns the failure that makes them incomplete. */
    private Optional<Absent<List<GpuProcess>>> collect(
            long device, String subject, Optional<MigDevice> partition, Map<Key, GpuProcess> into) {
        for (Kind kind : KINDS) {
            Optional<NvmlSymbol> symbol = library.best(kind.newest());
            Reading<List<GpuProcess>> list = symbol.isPresent()
                    ? list(symbol.get(), kind.type(), device, subject)
                    : Reading.absent(Absence.NO_SYMBOL, 0, kind.newest().symbol());
            if (list instanceof Present<List<GpuProcess>> present) {
                for (GpuProcess process : present.value()) {
                    GpuProcess placed = partition.map(p -> place(process, p)).orElse(process);
                    into.merge(new Key(placed.pid(), placed.gpuInstance().asOptional()), placed, ProcessLists::merge);
                }
            } else if (list instanceof Absent<List<GpuProcess>> absent && !optional(kind.type(), absent)) {
                return Optional.of(absent);
            }
        }
        return Optional.empty();
    }

    /**
     * Returns whether a list may be missing: boards without graphics or MPS return an error, and only the compute list
     * is required.
     */
    private static boolean optional(Type type, Absent<List<GpuProcess>> absent) {
        boolean none = absent.cause() == Absence.NOT_SUPPORTED || absent.cause() == Absence.NO_SYMBOL;
        return none && type != Type.COMPUTE;
    }

    private Reading<List<GpuProcess>> list(NvmlSymbol symbol, Type type, long device, String subject) {
        try (NativeMemory count = NativeMemory.allocate(8)) {
            int code = library.call(symbol, "ppp", device, count.address(), 0);
            for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
                int there = count.buffer().getInt(0);
                boolean counted = code == NvmlReturn.SUCCESS || code == NvmlReturn.INSUFFICIENT_SIZE;
                if (!counted) {
                    return library.absent(symbol, code);
                }
                if (there < 0 || there > MAX_ENTRIES) {
                    return refuse(symbol, subject, Integer.toUnsignedString(there) + " processes");
                }
                if (there == 0) {
                    return Reading.of(List.of());
                }
                int room = there + SLACK;
                try (NativeMemory entries = NativeMemory.allocate(room * ProcessEntries.LONGEST)) {
                    entries.fill(0, entries.size(), ProcessEntries.PATTERN);
                    count.buffer().putInt(0, room);
                    code = library.call(symbol, "ppp", device, count.address(), entries.address());
                    if (code == NvmlReturn.SUCCESS) {
                        return decode(
                                symbol, type, subject, entries, count.buffer().getInt(0), room);
                    }
                }
            }
            return Reading.absent(Absence.FAILED, code, symbol.symbol() + " keeps growing");
        }
    }

    private Reading<List<GpuProcess>> decode(
            NvmlSymbol symbol, Type type, String subject, NativeMemory entries, int count, int room) {
        if (count < 0 || count > room) {
            return refuse(symbol, subject, Integer.toUnsignedString(count) + " processes in room for " + room);
        }
        OptionalInt stride = ProcessEntries.stride(entries.buffer(), entries.size(), count);
        if (stride.isEmpty()) {
            return refuse(symbol, subject, count + " entries of no known length");
        }
        List<GpuProcess> processes = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int at = i * stride.getAsInt();
            int pid = entries.buffer().getInt(at);
            if (pid <= 0 || pid > MAX_PID) {
                refusals.add(symbol, subject, "pid " + pid);
            } else {
                processes.add(process(symbol, type, subject, entries.buffer(), at, stride.getAsInt()));
            }
        }
        return Reading.of(processes);
    }

    private GpuProcess process(NvmlSymbol symbol, Type type, String subject, ByteBuffer from, int at, int stride) {
        int pid = from.getInt(at);
        long bytes = from.getLong(at + BYTES_AT);
        Reading<Long> used = Reading.of(bytes);
        if (bytes == NO_BYTES) {
            used = Reading.absent(Absence.NOT_SUPPORTED, 0, symbol.symbol());
        } else if (bytes < 0 || bytes > MAX_BYTES) {
            refusals.add(symbol, subject, "pid " + pid + " with " + Long.toUnsignedString(bytes) + " bytes");
            used = Reading.absent(Absence.IMPLAUSIBLE, 0, symbol.symbol());
        }
        boolean instance = ProcessEntries.hasInstance(stride);
        return new GpuProcess(
                pid,
                type,
                used,
                instance(instance ? from.getInt(at + GPU_INSTANCE_AT) : NO_INSTANCE),
                instance(instance ? from.getInt(at + COMPUTE_INSTANCE_AT) : NO_INSTANCE));
    }

    private static Reading<Integer> instance(int id) {
        return id == NO_INSTANCE ? Reading.absent(Absence.NOT_SUPPORTED) : Reading.of(id);
    }

    /** Returns the process with its partition, which the entry may lack. */
    private static GpuProcess place(GpuProcess process, MigDevice partition) {
        return new GpuProcess(
                process.pid(),
                process.type(),
                process.usedBytes(),
                known(process.gpuInstance(), partition.gpuInstance()),
                known(process.computeInstance(), partition.computeInstance()));
    }

    /** Returns one process of two lists: with the kind from the first, and the larger of two numbers for the same memory. */
    private static GpuProcess merge(GpuProcess first, GpuProcess second) {
        Reading<Long> used = known(first.usedBytes(), second.usedBytes());
        if (first.usedBytes() instanceof Present<Long> a && second.usedBytes() instanceof Present<Long> b) {
            used = Reading.of(Math.max(a.value(), b.value()));
        }
        return new GpuProcess(
                first.pid(),
                first.type(),
                used,
                first.gpuInstance(),
                known(first.computeInstance(), second.computeInstance()));
    }

    private static <T> Reading<T> known(Reading<T> first, Reading<T> second) {
        return first instanceof Present<T> ? first : second;
    }

    private Reading<List<GpuProcess>> refuse(NvmlSymbol symbol, String subject, String seen) {
        refusals.add(symbol, subject, seen);
        return Reading.absent(Absence.IMPLAUSIBLE, 0, symbol.symbol() + ": " + seen);
    }
}
