package dev.gpuwarden.checks.telemetry;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.port.Driver;
import dev.gpuwarden.core.telemetry.GpuState;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * The GPUs of the node: those that the driver lists, and those that it listed earlier. Only the driver manager's thread
 * changes it.
 */
final class GpuRegistry {

    /** States that may end when the library is initialised again. */
    private static final Set<GpuState> AWAY =
            EnumSet.of(GpuState.LOST, GpuState.RESET_REQUIRED, GpuState.UNREADABLE, GpuState.GONE);

    private final Sampling sampling;
    private volatile List<GpuMonitor> all = List.of();

    GpuRegistry(Sampling sampling) {
        this.sampling = sampling;
    }

    List<GpuMonitor> all() {
        return all;
    }

    boolean isEmpty() {
        return all.isEmpty();
    }

    void forEach(Consumer<GpuMonitor> action) {
        all.forEach(action);
    }

    /** Returns the number of GPUs that the driver lists. */
    long listed(long nowNanos) {
        return all.stream().filter(s -> s.state(nowNanos) != GpuState.GONE).count();
    }

    boolean anyHung(long nowNanos) {
        return all.stream().anyMatch(s -> s.hungThreads(nowNanos) > 0);
    }

    boolean anyInDriver() {
        return all.stream().anyMatch(GpuMonitor::inDriver);
    }

    /** Returns whether a GPU went away: lost, unreadable, no longer listed, or on the bus and never listed. */
    boolean missing(List<PciAddress> onBus, long nowNanos) {
        for (GpuMonitor monitor : all) {
            GpuState seen = monitor.state(nowNanos);
            if (AWAY.contains(seen)) {
                return true;
            }
        }
        return onBus.stream()
                .anyMatch(address ->
                        all.stream().noneMatch(s -> s.binding().identity().pci().equals(Reading.of(address))));
    }

    /** Starts monitors for this number of GPUs; each identifies its GPU itself. */
    void begin(Driver driver, int count) {
        Reading.Absent<?> why = new Reading.Absent<>(Absence.PENDING, 0, "");
        List<GpuMonitor> fresh = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            fresh.add(new GpuMonitor(sampling, new GpuBinding(driver, GpuIdentity.unknown(i, why)), i, count));
        }
        all = List.copyOf(fresh);
        fresh.forEach(GpuMonitor::start);
    }

    /** Matches the driver's listing with the known GPUs. New GPUs start, GPUs that are not listed leave. */
    void apply(Driver driver, List<GpuIdentity> listed, boolean handlesChanged) {
        List<GpuMonitor> before = all;
        List<GpuIdentity> known =
                before.stream().map(s -> s.binding().identity()).toList();
        int[] match = GpuMatcher.match(known, listed);
        List<GpuMonitor> after = new ArrayList<>();
        List<GpuMonitor> fresh = new ArrayList<>();
        for (int i = 0; i < match.length; i++) {
            if (match[i] < 0) {
                GpuMonitor monitor = new GpuMonitor(sampling, new GpuBinding(driver, listed.get(i)), i, match.length);
                after.add(monitor);
                fresh.add(monitor);
                continue;
            }
            GpuMonitor monitor = before.get(match[i]);
            rebind(monitor, driver, GpuMatcher.merge(known.get(match[i]), listed.get(i)), handlesChanged);
            after.add(monitor);
        }
        List<GpuMonitor> left =
                before.stream().filter(monitor -> !after.contains(monitor)).toList();
        after.addAll(left);
        // In this order, so that no reader finds a gone GPU in the driver's order.
        all = List.copyOf(after);
        left.forEach(GpuMonitor::leave);
        fresh.forEach(GpuMonitor::start);
    }

    /** Returns whether each GPU that the driver lists is read from this one. */
    boolean readFrom(Driver driver, long nowNanos) {
        return all.stream()
                .allMatch(s -> s.state(nowNanos) == GpuState.GONE || s.binding().driver() == driver);
    }

    /** Replaces the reasons of the released GPUs. */
    void stayReleased(Function<GpuIdentity, String> reason) {
        all.stream()
                .filter(GpuMonitor::isReleased)
                .forEach(monitor ->
                        monitor.release(reason.apply(monitor.binding().identity())));
    }

    /** Marks the GPUs as gone that were released, since there is no driver to read them from again. */
    void leaveReleased() {
        all.stream().filter(GpuMonitor::isReleased).forEach(GpuMonitor::leave);
    }

    /** Ends the reading of each GPU for which this returns a reason. */
    void release(Function<GpuIdentity, Optional<String>> reason) {
        all.forEach(monitor -> reason.apply(monitor.binding().identity()).ifPresent(monitor::release));
    }

    /** Reads GPUs again that were released and are not among these indexes. */
    void takeAgain(Driver driver, Set<Integer> released) {
        for (GpuMonitor monitor : all) {
            GpuIdentity gpu = monitor.binding().identity();
            if (monitor.isReleased() && !released.contains(gpu.index())) {
                monitor.bind(new GpuBinding(driver, gpu));
            }
        }
    }

    private void rebind(GpuMonitor monitor, Driver driver, GpuIdentity identity, boolean handlesChanged) {
        GpuBinding bound = monitor.binding();
        GpuState state = monitor.state(sampling.clock().getAsLong());
        boolean gone = state == GpuState.GONE || state == GpuState.RELEASED;
        if (handlesChanged || gone || bound.driver() != driver || !identity.equals(bound.identity())) {
            monitor.bind(new GpuBinding(driver, identity));
        }
    }
}
