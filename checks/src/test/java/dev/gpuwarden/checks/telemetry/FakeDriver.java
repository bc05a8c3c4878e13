package dev.gpuwarden.checks.telemetry;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.port.Capability;
import dev.gpuwarden.core.port.CgroupLimits;
import dev.gpuwarden.core.port.Driver;
import dev.gpuwarden.core.port.DriverInfo;
import dev.gpuwarden.core.port.Refusal;
import dev.gpuwarden.core.process.GpuProcess;
import dev.gpuwarden.core.telemetry.Cadence;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.GpuMetric;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;

/** A driver for tests of scheduling in virtual time: the test decides what a call does, in the same thread. */
final class FakeDriver implements Driver {

    static final DriverInfo INFO = new DriverInfo(
            "fake", Reading.of("/lib/fake"), Reading.of("1"), Reading.of("1"), Reading.of("12.4"), "fake");

    final LongSupplier clock;
    Reading<List<GpuIdentity>> listed = Reading.of(List.of());
    Reading<Boolean> reinitialised = Reading.of(true);
    /** Actions to run within the next call of this kind on this GPU, before it returns. */
    final Map<String, Runnable> during = new HashMap<>();

    final Map<Integer, Absence> broken = new HashMap<>();
    final List<String> calls = new ArrayList<>();
    /** The value of every reading; 1 is plausible for all. */
    long value = 1;

    int openSamplers;
    boolean closed;
    Runnable duringReinitialise = () -> {};

    FakeDriver(LongSupplier clock) {
        this.clock = clock;
    }

    static GpuIdentity gpu(int index, String uuid) {
        Reading<String> none = Reading.absent(Absence.NOT_SUPPORTED);
        return new GpuIdentity(
                index,
                Reading.of(uuid),
                Reading.of(new PciAddress(0, 0x10 + index, 0, 0)),
                Reading.of(index),
                Reading.of("Fake"),
                none,
                none,
                none,
                none,
                Reading.absent(Absence.NOT_SUPPORTED),
                Reading.of(false),
                List.of(),
                Reading.absent(Absence.NOT_SUPPORTED));
    }

    private void call(String what) {
        calls.add(what);
        Runnable inside = during.remove(what);
        if (inside != null) {
            inside.run();
        }
    }

    @Override
    public DriverInfo info() {
        return INFO;
    }

    @Override
    public CgroupLimits cgroupLimits() {
        throw new UnsupportedOperationException("the sampler sets no limits");
    }

    @Override
    public List<Capability> capabilities() {
        return List.of();
    }

    @Override
    public List<Refusal> refusals() {
        return List.of();
    }

    @Override
    public Reading<List<GpuIdentity>> enumerate() {
        call("enumerate");
        return listed;
    }

    @Override
    public Reading<Integer> count() {
        call("count");
        return listed.map(List::size);
    }

    @Override
    public GpuIdentity identify(int gpuIndex) {
        call("identify " + gpuIndex);
        return listed.asOptional().orElseThrow().get(gpuIndex);
    }

    @Override
    public Reading<Boolean> reinitialise() {
        calls.add("reinitialise");
        duringReinitialise.run();
        return reinitialised;
    }

    @Override
    public Reading<Boolean> reinitialiseWith(List<GpuIdentity> kept) {
        calls.add("reinitialise with " + kept.stream().map(GpuIdentity::index).toList());
        duringReinitialise.run();
        return reinitialised;
    }

    @Override
    public Sampler sampler(int gpuIndex) {
        openSamplers++;
        return new Sampler() {
            @Override
            public void sample(Cadence cadence, GpuFrame frame) {
                call(cadence + " " + gpuIndex);
                long start = clock.getAsLong();
                Absence cause = broken.getOrDefault(gpuIndex, Absence.PRESENT);
                for (int i = 0; i < GpuMetric.count(); i++) {
                    if (!GpuMetric.of(i).isReadAt(cadence)) {
                        continue;
                    }
                    if (cause == Absence.PRESENT) {
                        frame.put(i, value);
                    } else {
                        frame.putAbsent(i, cause, cause == Absence.GPU_LOST ? 15 : 16);
                    }
                }
                frame.sampled(cadence, start, clock.getAsLong(), 1);
            }

            @Override
            public void close() {
                openSamplers--;
            }
        };
    }

    @Override
    public Sampler migSampler(int gpuIndex, int migIndex) {
        return sampler(gpuIndex);
    }

    @Override
    public Reading<List<GpuProcess>> processes(int gpuIndex) {
        call("PROCESSES " + gpuIndex);
        return Reading.of(List.of());
    }

    @Override
    public Reading<EventStream> events() {
        return Reading.absent(Absence.NOT_SUPPORTED);
    }

    @Override
    public void close() {
        closed = true;
    }
}
