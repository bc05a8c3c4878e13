package dev.gpuwarden.nat.driver;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.model.Reading.Absent;
import dev.gpuwarden.core.model.Reading.Present;
import dev.gpuwarden.core.port.Capability;
import dev.gpuwarden.core.port.CgroupLimits;
import dev.gpuwarden.core.port.Driver;
import dev.gpuwarden.core.port.DriverInfo;
import dev.gpuwarden.core.port.DriverOptions;
import dev.gpuwarden.core.port.Refusal;
import dev.gpuwarden.core.process.GpuProcess;
import dev.gpuwarden.nat.lib.NativeMemory;
import dev.gpuwarden.nat.nvml.GpuFiles;
import dev.gpuwarden.nat.nvml.GpuReader;
import dev.gpuwarden.nat.nvml.KeptGpus;
import dev.gpuwarden.nat.nvml.NvmlCgroupLimits;
import dev.gpuwarden.nat.nvml.NvmlEvents;
import dev.gpuwarden.nat.nvml.NvmlLibrary;
import dev.gpuwarden.nat.nvml.NvmlReturn;
import dev.gpuwarden.nat.nvml.NvmlSession;
import dev.gpuwarden.nat.nvml.NvmlSymbol;
import dev.gpuwarden.nat.nvml.ProcessLists;
import dev.gpuwarden.nat.nvml.RefusalLog;
import dev.gpuwarden.nat.process.HiddenFiles;
import dev.gpuwarden.nat.telemetry.Samplers;
import dev.gpuwarden.nat.telemetry.Target;
import java.util.List;

/** NVIDIA's driver as an implementation of the port. The session holds all state; this class only joins the parts. */
final class NvmlDriver implements Driver {

    // nvml.h 13.3, NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE, NVML_SYSTEM_NVML_VERSION_BUFFER_SIZE.
    static final int VERSION_BYTES = 80;

    private final NvmlSession session;
    private final NvmlLibrary library;
    private final GpuFiles files = new GpuFiles();
    private final RefusalLog refusals = new RefusalLog();
    private final GpuReader gpus;
    private final ProcessLists processes;
    private final CgroupLimits cgroupLimits;
    private final Samplers samplers;
    private final List<Capability> capabilities;
    private final DriverInfo info;

    private NvmlDriver(NvmlSession session, Samplers samplers) {
        this.session = session;
        this.library = session.library();
        this.gpus = new GpuReader(session, refusals);
        this.processes = new ProcessLists(session, gpus, refusals);
        this.cgroupLimits = new NvmlCgroupLimits(session);
        this.samplers = samplers;
        this.capabilities = library.capabilities();
        this.info = new DriverInfo(
                "nvml",
                Reading.of(library.path()),
                library.text(NvmlSymbol.NVML_VERSION, VERSION_BYTES),
                library.text(NvmlSymbol.DRIVER_VERSION, VERSION_BYTES),
                cudaVersion(),
                samplers.description());
    }

    static NvmlDriver of(NvmlSession session, DriverOptions options) {
        Samplers samplers = Samplers.of(session.library(), options.samplerPath(), options.profiling());
        return new NvmlDriver(session, samplers);
    }

    @Override
    public DriverInfo info() {
        return info;
    }

    @Override
    public List<Capability> capabilities() {
        return capabilities;
    }

    @Override
    public List<Refusal> refusals() {
        return refusals.recent();
    }

    @Override
    public Reading<Integer> count() {
        return gpus.count();
    }

    @Override
    public GpuIdentity identify(int gpuIndex) {
        return gpus.identify(gpuIndex);
    }

    @Override
    public Reading<Boolean> reinitialise() {
        return started(session.restart());
    }

    @Override
    public Reading<Boolean> reinitialiseWith(List<GpuIdentity> kept) {
        if (!library.has(NvmlSymbol.HANDLE_BY_PCI)) {
            return Reading.absent(Absence.NO_SYMBOL, 0, NvmlSymbol.HANDLE_BY_PCI.symbol());
        }
        if (!HiddenFiles.supported()) {
            return Reading.absent(
                    Absence.NOT_SUPPORTED, 0, "this kernel has no Landlock, so the driver opens every GPU");
        }
        Reading<Integer> code = session.restartWith(KeptGpus.of(kept), files.others(kept));
        return code instanceof Absent<Integer> absent
                ? Reading.absent(absent.cause(), absent.code(), absent.detail())
                : started(code.asOptional().orElseThrow());
    }

    private Reading<Boolean> started(int code) {
        return code == NvmlReturn.SUCCESS
                ? Reading.of(true)
                : Reading.absent(Absence.ofNvmlReturn(code), code, "starting " + library.path() + " again");
    }

    @Override
    public Sampler sampler(int gpuIndex) {
        return samplers.sampler(Target.gpu(session, gpuIndex));
    }

    @Override
    public Sampler migSampler(int gpuIndex, int migIndex) {
        return samplers.sampler(Target.mig(session, gpuIndex, migIndex));
    }

    @Override
    public Reading<List<GpuProcess>> processes(int gpuIndex) {
        return processes.of(gpuIndex);
    }

    @Override
    public CgroupLimits cgroupLimits() {
        return cgroupLimits;
    }

    @Override
    public Reading<EventStream> events() {
        Reading<Integer> count = gpus.count();
        if (count instanceof Absent<Integer> absent) {
            return Reading.absent(absent.cause(), absent.code(), absent.detail());
        }
        return NvmlEvents.open(session, gpus, ((Present<Integer>) count).value());
    }

    @Override
    public void close() {
        session.stop();
        library.close();
    }

    /** Returns the CUDA version; 12040 is 12.4. */
    private Reading<String> cudaVersion() {
        try (NativeMemory out = NativeMemory.allocate(8)) {
            int code = library.call(NvmlSymbol.CUDA_VERSION, "p", out.address());
            int version = out.buffer().getInt(0);
            return code == NvmlReturn.SUCCESS
                    ? Reading.of(version / 1000 + "." + version % 1000 / 10)
                    : library.absent(NvmlSymbol.CUDA_VERSION, code);
        }
    }
}
