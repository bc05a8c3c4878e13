package dev.gpuwarden.checks.gpu;

import dev.gpuwarden.core.compute.ResultVerdict;
import dev.gpuwarden.core.compute.WrongResults;
import dev.gpuwarden.core.health.Measurement;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.port.ComputeDriver.CopyRates;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * The rates of one GPU in bytes a second: alone, while all GPUs copy, and between all GPUs.
 *
 * @param proof whether they are those of a run that goes on, in which no other program has taken a GPU
 */
record PcieRates(String uuid, CopyRates alone, Reading<CopyRates> together, PeerCopies peers, boolean proof) {

    /** Returns the rates of a GPU while the other measurements are still to come. */
    static PcieRates alone(String uuid, CopyRates alone, boolean proof) {
        return new PcieRates(
                uuid, alone, Reading.absent(Absence.PENDING, 0, "measured later in the run"), PeerCopies.NONE, proof);
    }

    /** GB/s of the slower direction, alone. */
    double slower() {
        return Math.min(alone.toDevice(), alone.toHost()) / 1e9;
    }

    /** Returns the verdicts on the copied data: that of the host first. */
    List<ResultVerdict> verdicts() {
        List<ResultVerdict> verdicts = new ArrayList<>();
        verdicts.add(WrongResults.ofCopies("copies between host and GPU", alone.data()));
        together.asOptional()
                .map(shared -> WrongResults.ofCopies("copies beside those of other GPUs", shared.data()))
                .filter(ResultVerdict::accuses)
                .ifPresent(verdicts::add);
        peers.wrong(uuid).forEach(verdicts::add);
        return verdicts;
    }

    /** GB/s of the faster direction, alone. */
    double faster() {
        return Math.max(alone.toDevice(), alone.toHost()) / 1e9;
    }

    /** Returns whether the link can carry these rates. */
    boolean isPlausible(PcieLink link) {
        return faster() <= 1.05 * link.gigabytes();
    }

    /** Returns the rates of the GPU alone, for a message. */
    String text() {
        return String.format(
                Locale.ROOT, "%.1f GB/s to the GPU, %.1f GB/s back", alone.toDevice() / 1e9, alone.toHost() / 1e9);
    }

    /** @param expected limit of the rates alone, for a reader; empty without one */
    Measurement[] evidence(String expected) {
        List<Measurement> all = new ArrayList<>();
        all.add(new Measurement("to_device_gigabytes_per_second", alone.toDevice() / 1e9, expected));
        all.add(new Measurement("to_host_gigabytes_per_second", alone.toHost() / 1e9, expected));
        together.asOptional().ifPresent(shared -> {
            all.add(new Measurement("together_to_device_gigabytes_per_second", shared.toDevice() / 1e9, ""));
            all.add(new Measurement("together_to_host_gigabytes_per_second", shared.toHost() / 1e9, ""));
        });
        return all.toArray(Measurement[]::new);
    }
}
