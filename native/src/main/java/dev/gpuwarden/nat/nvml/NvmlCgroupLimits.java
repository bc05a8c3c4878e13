package dev.gpuwarden.nat.nvml;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.model.Reading.Absent;
import dev.gpuwarden.core.model.Reading.Present;
import dev.gpuwarden.core.port.CgroupLimits;
import dev.gpuwarden.nat.lib.NativeMemory;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.OptionalLong;
import java.util.function.Function;

/** NVML's limits of memory for control groups. Never run on hardware: written from nvml.h 13.5.37. */
public final class NvmlCgroupLimits implements CgroupLimits {

    // nvml.h 13.5, NVML_DEVICE_MEMORY_LIMIT_MAX: no hard limit.
    private static final long NO_LIMIT = -1L;

    private static final CStruct SET = NvmlStructs.of("nvmlSetMemoryLimits_v1_t");
    private static final CStruct GET = NvmlStructs.of("nvmlGetMemoryLimits_v1_t");

    private final NvmlSession session;
    private final NvmlLibrary library;

    public NvmlCgroupLimits(NvmlSession session) {
        this.session = session;
        this.library = session.library();
    }

    @Override
    public Reading<Use> get(String gpuUuid, String folder) {
        return call(NvmlSymbol.GET_MEMORY_LIMITS, GET, gpuUuid, folder, Limit.NONE, out -> {
            long hard = out.getLong(GET.offset("hardLimit"));
            return new Use(
                    new Limit(
                            out.getLong(GET.offset("softLimit")),
                            hard == NO_LIMIT ? OptionalLong.empty() : OptionalLong.of(hard)),
                    out.getLong(GET.offset("currentUsed")));
        });
    }

    @Override
    public Reading<Limit> set(String gpuUuid, String folder, Limit limit) {
        return call(NvmlSymbol.SET_MEMORY_LIMITS, SET, gpuUuid, folder, limit, out -> limit);
    }

    private <T> Reading<T> call(
            NvmlSymbol symbol,
            CStruct form,
            String gpuUuid,
            String folder,
            Limit limit,
            Function<ByteBuffer, T> result) {
        if (!library.has(symbol)) {
            return Reading.absent(Absence.NO_SYMBOL, 0, symbol.symbol());
        }
        Reading<Long> device = session.handle(gpuUuid);
        if (device instanceof Absent<Long> absent) {
            return Reading.absent(absent.cause(), absent.code(), absent.detail());
        }
        byte[] path = folder.getBytes(StandardCharsets.UTF_8);
        try (NativeMemory name = NativeMemory.allocate(path.length + 1);
                NativeMemory limits = NativeMemory.allocate(form.size())) {
            name.buffer().put(0, path);
            limits.buffer().putLong(form.offset("nameSpace"), name.address());
            limits.buffer().putLong(form.offset("softLimit"), limit.softBytes());
            limits.buffer().putLong(form.offset("hardLimit"), limit.hardBytes().orElse(NO_LIMIT));
            int code = library.call(symbol, "pp", ((Present<Long>) device).value(), limits.address());
            return code == NvmlReturn.SUCCESS
                    ? Reading.of(result.apply(limits.buffer()))
                    : library.absent(symbol, code);
        }
    }
}
