package dev.gpuwarden.checks.gpu;

import dev.gpuwarden.checks.compute.AllReduceBench.Outcome;
import dev.gpuwarden.checks.gpu.RepeatedWrongNotes.Fault;
import dev.gpuwarden.core.check.CheckContext;
import dev.gpuwarden.core.check.Limits.Limit;
import dev.gpuwarden.core.compute.AllReduceRate;
import dev.gpuwarden.core.compute.AllReduceSums;
import dev.gpuwarden.core.compute.SlowPairs;
import dev.gpuwarden.core.compute.WrongResults;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.health.Measurement;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.port.CollectiveException;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import dev.gpuwarden.core.util.Mib;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** The end of one group's all-reduces, and its meaning for each GPU. Pure. */
sealed interface LoopbackRun {

    /** The all-reduces between all GPUs of a group. */
    String ALL = "all-reduce";

    /** Adds the parts of one GPU's finding. */
    void judge(FindingBuilder builder);

    /**
     * Adds the wrong sums that one GPU has seen so far; nothing without one.
     *
     * @param what the all-reduces that had them
     */
    static void addWrong(FindingBuilder builder, String what, AllReduceSums sums) {
        RepeatedWrongNotes.addWrong(builder, List.of(WrongResults.ofAllReduce(what, sums)), Measured.WRONG_SUM);
    }

    /** No library, or one that does not start. */
    record NoLibrary(Reading.Absent<?> why) implements LoopbackRun {
        @Override
        public void judge(FindingBuilder builder) {
            if (why.cause() == Absence.NOT_SUPPORTED) {
                builder.skip(
                        "no-nccl",
                        why.text(),
                        "install NVIDIA's package libnccl2, or name the file by --nccl.library-path");
            } else {
                ComputeCheck.unmeasured(builder, why);
            }
        }
    }

    /** @param causes failures by place in the group; consequences are not among them */
    record Failed(List<GpuSnapshot> group, Map<Integer, CollectiveException> causes) implements LoopbackRun {
        @Override
        public void judge(FindingBuilder builder) {
            CollectiveException own = causes.get(group.indexOf(builder.gpu()));
            Optional<CollectiveException> host = causes.values().stream()
                    .filter(cause -> !NcclError.of(cause).isOfGpu())
                    .findFirst();
            if (own == null && host.isPresent()) {
                NcclError.of(host.get()).report(builder, host.get());
                return;
            }
            if (own == null) {
                builder.unknown(
                        "not-measured",
                        "the run of " + group.size() + " GPUs ended by a failure of "
                                + causes.keySet().stream()
                                        .map(place ->
                                                group.get(place).identity().label())
                                        .collect(Collectors.joining(", ")),
                        "repair that GPU first");
                return;
            }
            NcclError.of(own).report(builder, own);
        }
    }

    /**
     * Bandwidths and sums.
     *
     * @param outcome of the run of all GPUs
     * @param wantedBytes the size that limits are for
     * @param pairs bus bandwidth of neighbouring pairs by the place of the first one; empty where it was not needed
     */
    record Measured(List<GpuSnapshot> group, Outcome.Measured outcome, long wantedBytes, Map<Integer, Double> pairs)
            implements LoopbackRun {

        private static final String BUSBW = "nccl_busbw_gigabytes_per_second";

        private static final Fault WRONG_SUM = new Fault(
                "wrong-sum",
                "take the GPU out of service, and compare with 'gpuwarden check gpu-results gpumem gpu-nvlink'",
                RecommendedAction.CONTACT_SUPPORT);

        Measured withPairs(Map<Integer, Double> rates) {
            return new Measured(group, outcome, wantedBytes, rates);
        }

        /** Returns the rate of the largest size. */
        AllReduceRate rate() {
            return outcome.last();
        }

        /** Returns whether the bandwidth is below its limit, and evidence. */
        boolean isLow(CheckContext context) {
            return limit(new FindingBuilder(group.get(0), context))
                    .filter(limit -> rate().isPlausible()
                            && rate().busBandwidth() < limit.value()
                            && rate().isEvidence(wantedBytes))
                    .isPresent();
        }

        /** Returns the user's or the board's limit, else that for a group with or without an NVLink that is up. */
        private Optional<Limit> limit(FindingBuilder builder) {
            boolean nvlink =
                    group.stream().anyMatch(gpu -> Links.of(gpu.frame()).up() != 0);
            return builder.limit(BUSBW)
                    .or(() -> nvlink
                            ? builder.limit("nccl_busbw_nvlink_gigabytes_per_second")
                            : builder.limit("nccl_busbw_pcie_gigabytes_per_second"));
        }

        @Override
        public void judge(FindingBuilder builder) {
            int place = group.indexOf(builder.gpu());
            if (place < 0) {
                builder.skip("not-measured", "CUDA does not list this GPU in this process");
                return;
            }
            AllReduceSums sums = outcome.sums().get(place);
            RepeatedWrongNotes.add(builder, List.of(WrongResults.ofAllReduce(ALL, sums)), WRONG_SUM);
            AllReduceRate rate = rate();
            Optional<Limit> limit = limit(builder);
            if (!rate.isPlausible()) {
                builder.unknown(
                        "rate-implausible",
                        "an all-reduce took " + rate.seconds() + " s by the GPU's clock",
                        "run 'gpuwarden doctor'");
            } else if (limit.isEmpty() || rate.busBandwidth() >= limit.get().value()) {
                builder.pass("nccl-loopback-good", text() + compared(sums), evidence(limit));
            } else if (!rate.isEvidence(wantedBytes)) {
                builder.unknown(
                        "size-too-small",
                        text() + ", the largest size that this node reached in time; the limit "
                                + LimitText.brief(limit.get()) + " is for " + size(wantedBytes),
                        "run it again when the node's processors are idle");
            } else {
                low(builder, place, limit.get());
            }
        }

        private void low(FindingBuilder builder, int place, Limit limit) {
            Set<Integer> suspects = suspects(builder);
            String among = suspects.isEmpty()
                    ? ""
                    : "; in pairs, " + names(suspects) + (suspects.size() == 1 ? " is" : " are") + " slower";
            if (suspects.isEmpty() || suspects.contains(place)) {
                builder.fail(
                        "NCCL_BW_DEGRADED",
                        text() + ", expected at least " + LimitText.brief(limit) + among,
                        "compare with 'gpuwarden check gpu-nvlink gpu-fabric gpu-pcie-link'; check Fabric Manager, then"
                                + " IOMMU and ACS",
                        RecommendedAction.CONTACT_SUPPORT,
                        evidence(Optional.of(limit)));
            } else {
                builder.pass(
                        "nccl-loopback-good",
                        "reaches the rate of the other GPUs in pairs; together they have " + text() + among);
            }
        }

        private Set<Integer> suspects(FindingBuilder builder) {
            Optional<Limit> share = builder.limit("nccl_pair_share");
            if (pairs.size() < group.size() || share.isEmpty()) {
                return Set.of();
            }
            double[] rates = new double[group.size()];
            pairs.forEach((place, pair) -> rates[place] = pair);
            return SlowPairs.suspects(rates, share.get().value());
        }

        private String names(Set<Integer> places) {
            return places.stream()
                    .map(place -> group.get(place).identity().label())
                    .collect(Collectors.joining(", "));
        }

        private static String compared(AllReduceSums sums) {
            return sums.isCompared()
                    ? ""
                    : "; sums are not compared, since the driver or the GPU is too old for the kernel that does it";
        }

        private String text() {
            AllReduceRate rate = rate();
            return String.format(
                    Locale.ROOT,
                    "%.1f GB/s of bus bandwidth in an all-reduce of %s between %d GPUs",
                    rate.busBandwidth(),
                    size(rate.bytes()),
                    rate.ranks());
        }

        private static String size(long bytes) {
            return bytes >= 1 << 20 ? Mib.text(bytes) : bytes + " bytes";
        }

        private Measurement[] evidence(Optional<Limit> limit) {
            double rate = rate().busBandwidth();
            List<Measurement> values = new ArrayList<>(List.of(
                    limit.map(one -> LimitText.atLeast(BUSBW, rate, one)).orElse(new Measurement(BUSBW, rate, "")),
                    new Measurement("nccl_message_bytes", rate().bytes(), ""),
                    new Measurement("nccl_ranks_count", rate().ranks(), "")));
            // For comparison only: limits are for runs out of place.
            if (outcome.inPlace().isPlausible()) {
                values.add(new Measurement(
                        "nccl_in_place_busbw_gigabytes_per_second",
                        outcome.inPlace().busBandwidth(),
                        ""));
            }
            return values.toArray(Measurement[]::new);
        }
    }
}
