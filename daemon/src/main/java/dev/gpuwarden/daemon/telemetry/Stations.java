package dev.gpuwarden.daemon.telemetry;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.port.Driver;
import dev.gpuwarden.core.telemetry.GpuState;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** The GPUs of the node: those that the driver lists, and those that it listed once. Changed by the keeper's thread alone. */
final class Stations {

    private final GpuStation.Sampling sampling;
    private volatile List<GpuStation> all = List.of();

    Stations(GpuStation.Sampling sampling) {
        this.sampling = sampling;
    }

    List<GpuStation> all() {
        return all;
    }

    boolean isEmpty() {
        return all.isEmpty();
    }

    void forEach(Consumer<GpuStation> action) {
        all.forEach(action);
    }

    /** How many the driver lists. */
    long listed(long nowNanos) {
        return all.stream().filter(s -> s.state(nowNanos) != GpuState.GONE).count();
    }

    boolean anyHung(long nowNanos) {
        return all.stream().anyMatch(s -> s.hungThreads(nowNanos) > 0);
    }

    boolean anyInDriver() {
        return all.stream().anyMatch(GpuStation::inDriver);
    }

    /** Whether a GPU went away: lost, no longer listed, or on the bus and never listed. */
    boolean missing(List<PciAddress> onBus, long nowNanos) {
        for (GpuStation station : all) {
            GpuState seen = station.state(nowNanos);
            if (seen == GpuState.LOST || seen == GpuState.RESET_REQUIRED || seen == GpuState.GONE) {
                return true;
            }
        }
        return onBus.stream()
                .anyMatch(address ->
                        all.stream().noneMatch(s -> s.binding().identity().pci().equals(Reading.of(address))));
    }

    /** Every GPU finds out by itself which one it is. */
    void begin(Driver driver, int count) {
        Reading.Absent<?> why = new Reading.Absent<>(Absence.PENDING, 0, "");
        List<GpuStation> fresh = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            fresh.add(new GpuStation(sampling, new Binding(driver, GpuIdentity.unknown(i, why)), i, count));
        }
        all = List.copyOf(fresh);
        fresh.forEach(GpuStation::start);
    }

    /** Matches what the driver lists now with what is known; new GPUs begin, GPUs that are not listed leave. */
    void apply(Driver driver, List<GpuIdentity> listed, boolean handlesChanged) {
        List<GpuStation> before = all;
        List<GpuIdentity> known =
                before.stream().map(s -> s.binding().identity()).toList();
        int[] match = Inventory.match(known, listed);
        List<GpuStation> after = new ArrayList<>();
        List<GpuStation> fresh = new ArrayList<>();
        for (int i = 0; i < match.length; i++) {
            if (match[i] < 0) {
                GpuStation station = new GpuStation(sampling, new Binding(driver, listed.get(i)), i, match.length);
                after.add(station);
                fresh.add(station);
                continue;
            }
            GpuStation station = before.get(match[i]);
            rebind(station, driver, Inventory.merge(known.get(match[i]), listed.get(i)), handlesChanged);
            after.add(station);
        }
        List<GpuStation> left =
                before.stream().filter(station -> !after.contains(station)).toList();
        after.addAll(left);
        // In this order, so that no reader finds a GPU gone while it still stands in the driver's order.
        all = List.copyOf(after);
        left.forEach(GpuStation::leave);
        fresh.forEach(GpuStation::start);
    }

    private void rebind(GpuStation station, Driver driver, GpuIdentity identity, boolean handlesChanged) {
        Binding bound = station.binding();
        boolean gone = station.state(sampling.clock().getAsLong()) == GpuState.GONE;
        if (handlesChanged || gone || bound.driver() != driver || !identity.equals(bound.identity())) {
            station.bind(new Binding(driver, identity));
        }
    }
}
