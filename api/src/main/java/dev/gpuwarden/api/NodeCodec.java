package dev.gpuwarden.api;

import dev.gpuwarden.api.v1.Driver;
import dev.gpuwarden.api.v1.DriverFacts;
import dev.gpuwarden.api.v1.PciGpus;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.NodeSnapshot.DriverState;
import dev.gpuwarden.core.port.DriverInfo;
import dev.gpuwarden.core.port.Opening;
import java.util.List;

/** The codec of the node's driver and bus between core and the wire. */
public final class NodeCodec {

    private static final EnumCodec<Opening.Reason, Driver.Reason> REASONS =
            EnumCodec.of(Opening.Reason.class, Driver.Reason.class, "");

    private NodeCodec() {}

    public static Driver toWire(DriverState state) {
        Driver.Builder wire = Driver.newBuilder();
        if (state instanceof DriverState.Opening) {
            wire.setOpening(Driver.Opening.getDefaultInstance());
        } else if (state instanceof DriverState.Running running) {
            wire.getRunningBuilder().setFacts(toWire(running.info()));
        } else if (state instanceof DriverState.Unavailable none) {
            wire.getUnavailableBuilder()
                    .setReason(REASONS.toWire(none.reason()))
                    .setCode(none.code())
                    .setDetail(none.detail());
        } else if (state instanceof DriverState.Silent silent) {
            wire.getSilentBuilder().setFacts(toWire(silent.info())).setDetail(silent.detail());
        }
        return wire.build();
    }

    /** Returns the state; Unavailable, with a reason, for one that this version does not support. */
    public static DriverState fromWire(Driver wire) {
        return switch (wire.getStateCase()) {
            case OPENING -> new DriverState.Opening();
            case RUNNING -> new DriverState.Running(fromWire(wire.getRunning().getFacts()));
            case SILENT ->
                new DriverState.Silent(
                        fromWire(wire.getSilent().getFacts()), wire.getSilent().getDetail());
            case UNAVAILABLE ->
                new DriverState.Unavailable(
                        REASONS.fromWire(wire.getUnavailable().getReason()).orElse(Opening.Reason.FAILED),
                        wire.getUnavailable().getCode(),
                        wire.getUnavailable().getDetail());
            case STATE_NOT_SET ->
                new DriverState.Unavailable(
                        Opening.Reason.FAILED, 0, "the daemon reports a state that this version does not support");
        };
    }

    /** Returns the GPUs on the bus; addresses that cannot be parsed are left out. */
    public static Reading<List<PciAddress>> pciGpus(PciGpus wire) {
        return wire.hasAbsent()
                ? ReadingCodec.absent(wire.getAbsent())
                : Reading.of(wire.getPciAddressesList().stream()
                        .flatMap(address -> PciAddress.parse(address).stream())
                        .toList());
    }

    public static PciGpus pciGpus(Reading<List<PciAddress>> addresses) {
        PciGpus.Builder wire = PciGpus.newBuilder();
        if (addresses instanceof Reading.Present<List<PciAddress>> present) {
            present.value().forEach(address -> wire.addPciAddresses(address.toString()));
        } else {
            wire.setAbsent(ReadingCodec.absent(addresses));
        }
        return wire.build();
    }

    private static DriverFacts toWire(DriverInfo info) {
        return DriverFacts.newBuilder()
                .setProvider(info.name())
                .setLibraryPath(ReadingCodec.text(info.libraryPath()))
                .setLibraryVersion(ReadingCodec.text(info.libraryVersion()))
                .setDriverVersion(ReadingCodec.text(info.driverVersion()))
                .setCudaVersion(ReadingCodec.text(info.cudaVersion()))
                .setSampler(info.samplerPath())
                .build();
    }

    private static DriverInfo fromWire(DriverFacts wire) {
        return new DriverInfo(
                wire.getProvider(),
                ReadingCodec.text(wire.getLibraryPath()),
                ReadingCodec.text(wire.getLibraryVersion()),
                ReadingCodec.text(wire.getDriverVersion()),
                ReadingCodec.text(wire.getCudaVersion()),
                wire.getSampler());
    }
}
