package dev.gpuwarden.api;

import dev.gpuwarden.api.v1.Holder;
import dev.gpuwarden.api.v1.HolderKind;
import dev.gpuwarden.api.v1.Holdings;
import dev.gpuwarden.api.v1.NodeReport;
import dev.gpuwarden.core.holder.GpuHolder;
import dev.gpuwarden.core.holder.GpuHolder.Kind;
import dev.gpuwarden.core.holder.GpuHolders;
import dev.gpuwarden.core.holder.ProcessHolder;
import dev.gpuwarden.core.holder.UnresolvedDevice;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** The codec of the holders of a node's GPUs, between node and aggregator. */
public final class HoldingsCodec {

    public static final int MOST_HOLDERS = 2048;
    public static final int MOST_UNRESOLVED = 256;
    public static final int MOST_PROCESSES = 256;
    public static final int LONGEST_ID = 64;

    /** Limit on holders in bytes: half of what the aggregator accepts. */
    private static final int MOST_BYTES = 1 << 20;

    /**
     * Limit on one text in bytes. Names of pods have 253 characters at most; device ids and reasons have no limit of
     * their own.
     */
    private static final int LONGEST_BYTES = 256;

    private static final EnumCodec<Kind, HolderKind> KINDS = EnumCodec.of(Kind.class, HolderKind.class, "HOLDER_KIND_");

    private HoldingsCodec() {}

    /** Returns whether this is a valid id of a question: no longer than a UUID needs. */
    public static boolean isId(String text) {
        return !text.isEmpty() && text.length() <= LONGEST_ID && text.chars().allMatch(c -> c > ' ' && c <= '~');
    }

    /** @param now time of an answer without data */
    public static NodeReport report(String id, Instant now, Reading<GpuHolders> seen) {
        Holdings.Builder holdings = Holdings.newBuilder().setId(id).setAsOf(Timestamps.toWire(now));
        if (seen instanceof Reading.Present<GpuHolders> present) {
            fill(holdings, present.value());
        } else if (seen instanceof Reading.Absent<GpuHolders> absent) {
            holdings.setError(shown(absent.text()));
        }
        return NodeReport.newBuilder().setHoldings(holdings).build();
    }

    private static void fill(Holdings.Builder holdings, GpuHolders seen) {
        holdings.setAsOf(Timestamps.toWire(seen.asOf()));
        long bytes = 0;
        for (GpuHolder holder : seen.holders()) {
            Holder wire = toWire(holder);
            bytes += wire.getSerializedSize();
            if (holdings.getHoldersCount() == MOST_HOLDERS || bytes > MOST_BYTES) {
                break;
            }
            holdings.addHolders(wire);
        }
        seen.unresolved().stream()
                .limit(MOST_UNRESOLVED)
                .map(HoldingsCodec::toWire)
                .forEach(holdings::addUnresolved);
        seen.processes().stream()
                .limit(MOST_PROCESSES)
                .map(HoldingsCodec::toWire)
                .forEach(holdings::addProcesses);
        holdings.setUnlistedProcesses(
                seen.unlistedProcesses().orElse(0) + seen.processes().size() - holdings.getProcessesCount());
        seen.unsearched().map(HoldingsCodec::shown).ifPresent(holdings::setProcessesError);
        holdings.setUnlisted(seen.unlisted()
                + seen.holders().size()
                - holdings.getHoldersCount()
                + seen.unresolved().size()
                - holdings.getUnresolvedCount());
    }

    private static Holder toWire(GpuHolder holder) {
        return Holder.newBuilder()
                .setNamespace(shown(holder.namespace()))
                .setPod(shown(holder.pod()))
                .setContainer(shown(holder.container()))
                .setGpuUuid(shown(holder.gpuUuid()))
                .setKind(KINDS.toWire(holder.kind()))
                .setDeviceId(shown(holder.deviceId()))
                .build();
    }

    private static dev.gpuwarden.api.v1.UnresolvedDevice toWire(UnresolvedDevice device) {
        return dev.gpuwarden.api.v1.UnresolvedDevice.newBuilder()
                .setNamespace(shown(device.namespace()))
                .setPod(shown(device.pod()))
                .setContainer(shown(device.container()))
                .setResource(shown(device.resource()))
                .setDeviceId(shown(device.deviceId()))
                .setWhy(shown(device.why()))
                .build();
    }

    private static dev.gpuwarden.api.v1.ProcessHolder toWire(ProcessHolder holder) {
        return dev.gpuwarden.api.v1.ProcessHolder.newBuilder()
                .setNamespace(shown(holder.namespace()))
                .setPod(shown(holder.pod()))
                .setContainer(shown(holder.container()))
                .setGpuUuid(shown(holder.gpuUuid()))
                .build();
    }

    private static String shown(String text) {
        return Utf8.shown(text, LONGEST_BYTES);
    }

    // ---- what came over the wire ----

    /** Returns the node's answer; absent, with the node's reason, where it has no data. Its texts are untrusted. */
    public static Reading<GpuHolders> parse(Holdings said) {
        Optional<Instant> asOf = said.hasAsOf() ? Timestamps.parse(said.getAsOf()) : Optional.empty();
        if (!said.getError().isEmpty()) {
            return Reading.absent(Absence.FAILED, 0, said.getError());
        }
        if (asOf.isEmpty()) {
            return Reading.absent(Absence.IMPLAUSIBLE, 0, "the node's answer has no time");
        }
        List<GpuHolder> holders = said.getHoldersList().stream()
                .limit(MOST_HOLDERS)
                .flatMap(holder -> holder(holder).stream())
                .toList();
        List<UnresolvedDevice> unresolved = said.getUnresolvedList().stream()
                .limit(MOST_UNRESOLVED)
                .map(HoldingsCodec::unresolved)
                .toList();
        long left = (long) said.getHoldersCount() - holders.size() + said.getUnresolvedCount() - unresolved.size();
        List<ProcessHolder> processes = said.getProcessesList().stream()
                .limit(MOST_PROCESSES)
                .map(holder -> new ProcessHolder(
                        holder.getNamespace(), holder.getPod(), holder.getContainer(), holder.getGpuUuid()))
                .toList();
        long more = said.getProcessesCount() - processes.size() + Math.max(0, said.getUnlistedProcesses());
        boolean counted = said.hasUnlistedProcesses() || processes.size() < MOST_PROCESSES;
        return Reading.of(new GpuHolders(
                asOf.get(),
                holders,
                unresolved,
                left + Math.max(0, said.getUnlisted()),
                processes,
                counted ? OptionalLong.of(more) : OptionalLong.empty(),
                Optional.of(said.getProcessesError()).filter(why -> !why.isEmpty())));
    }

    /** Returns the holder; empty for a kind that this version does not support. */
    private static Optional<GpuHolder> holder(Holder said) {
        return KINDS.fromWire(said.getKind())
                .map(known -> new GpuHolder(
                        said.getNamespace(),
                        said.getPod(),
                        said.getContainer(),
                        said.getGpuUuid(),
                        known,
                        said.getDeviceId()));
    }

    private static UnresolvedDevice unresolved(dev.gpuwarden.api.v1.UnresolvedDevice said) {
        return new UnresolvedDevice(
                said.getNamespace(),
                said.getPod(),
                said.getContainer(),
                said.getResource(),
                said.getDeviceId(),
                said.getWhy());
    }
}
