package dev.gpuwarden.daemon.uplink;

import dev.gpuwarden.api.HoldingsCodec;
import dev.gpuwarden.api.UplinkCodec;
import dev.gpuwarden.api.v1.NodeReport;
import dev.gpuwarden.api.v1.Signal;
import dev.gpuwarden.api.v1.Signalled;
import dev.gpuwarden.core.holder.GpuHolders;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.daemon.checkpoint.PodSignals;
import dev.gpuwarden.daemon.uplink.request.RequestKind;
import dev.gpuwarden.daemon.uplink.request.Responder;
import java.time.Clock;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Supplier;

/** The kinds of requests of the aggregator that each node answers. */
final class Responders {

    private Responders() {}

    /**
     * Returns the requests for the holders of the GPUs, which are read at most once a second. The answer to the newest request
     * serves earlier requests too.
     */
    static RequestKind holders(Supplier<Reading<GpuHolders>> holders, Clock clock) {
        return new Responder<>(
                "gpuwarden-holders",
                UplinkCodec.MOST_LOOKUPS,
                Duration.ofSeconds(1),
                hello -> hello.setAnswersLookups(true),
                message -> message.hasLookup() ? Optional.of(message.getLookup().getId()) : Optional.<String>empty(),
                id -> holdings(id, clock, holders.get()),
                (id, why) -> holdings(id, clock, Reading.absent(Absence.FAILED, 0, why)));
    }

    private static NodeReport holdings(String id, Clock clock, Reading<GpuHolders> seen) {
        return HoldingsCodec.report(id, clock.instant(), seen);
    }

    /** Returns the requests for signals to pods. */
    static RequestKind signals(UplinkNode.SignalSender sender) {
        return new Responder<>(
                "gpuwarden-signals",
                UplinkCodec.MOST_SIGNALS,
                Duration.ZERO,
                hello -> hello.setAnswersSignals(true),
                message -> message.hasSignal() ? Optional.of(message.getSignal()) : Optional.<Signal>empty(),
                signal -> signalled(signal, sender.send(signal.getId(), signal.getPodUid(), signal.getSignal())),
                (signal, why) -> signalled(signal, new PodSignals.Answer(0, why)));
    }

    private static NodeReport signalled(Signal signal, PodSignals.Answer answer) {
        return NodeReport.newBuilder()
                .setSignalled(Signalled.newBuilder()
                        .setId(signal.getId())
                        .setProcesses(answer.signalled())
                        .setError(answer.error()))
                .build();
    }
}
