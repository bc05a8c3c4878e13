package dev.gpuwarden.checks.gpu;

import com.google.auto.service.AutoService;
import dev.gpuwarden.checks.gpu.RepeatedWrongNotes.Fault;
import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.GpuLoad;
import dev.gpuwarden.core.check.HealthCheck;
import dev.gpuwarden.core.check.Limits.Limit;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.port.ComputeDriver;
import dev.gpuwarden.core.port.ComputeDriver.CopyRates;
import dev.gpuwarden.core.port.ComputeDriver.CopyWork;
import dev.gpuwarden.core.telemetry.GpuMetric;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * A measurement of the rate between pinned memory of the host and each GPU, in both directions: one GPU at a time, then
 * all at the same time; then between all pairs of GPUs. The slower direction of the single run is compared with the rate of the link, the limit of the
 * board, and the GPUs of the same board. The host compares copied data with what it wrote. If a GPU has work, a low rate is no evidence, and a good one is.
 */
@AutoService(HealthCheck.class)
public final class PcieBandwidthCheck extends ComputeCheck<PcieRates> {

    /** Two copies before and 2 ms of copies for each direction: 10 ms of a GPU where the link has at least 2 GB/s. */
    private static final CopyWork WORK = new CopyWork(4 << 20, Duration.ofMillis(2), Duration.ofSeconds(5));

    /** The link of an idle GPU is slow until work wakes it: a GPU is measured again as long as its rate rises by this much. */
    private static final double RISING = 1.05;

    private static final int MOST_MEASUREMENTS = 8;

    private static final Fault WRONG_COPY = new Fault(
            "wrong-copy",
            "take the GPU out of service, and compare with 'gpuwarden check gpumem gpu-pcie-link gpu-nvlink'",
            RecommendedAction.CONTACT_SUPPORT);

    /** A node of 16 GPUs that all hang. */
    private static final Duration DEADLINE = Duration.ofSeconds(120);

    private final CopyWork copies;
    private final CopyWork peerWork;

    public PcieBandwidthCheck() {
        this(WORK, PeerCopies.WORK);
    }

    PcieBandwidthCheck(CopyWork copies, CopyWork peerWork) {
        this.copies = copies;
        this.peerWork = peerWork;
    }

    @Override
    public CheckInfo info() {
        return CheckInfo.of("pciebw", "GPU", "Copies between host and GPU reach the rate of the PCIe link.")
                .every(Duration.ofHours(1))
                .damped(2, 1);
    }

    @Override
    public Duration deadline() {
        return DEADLINE;
    }

    @Override
    public GpuLoad load() {
        return GpuLoad.LIGHT;
    }

    @Override
    List<Reading<PcieRates>> measure(Work<PcieRates> work) {
        ComputeDriver driver = work.driver();
        List<String> uuids = work.uuids();
        Reports reports = work.reports();
        List<Reading<CopyRates>> alone = new ArrayList<>();
        int parts = uuids.size() + 2;
        for (String uuid : uuids) {
            reports.progress("copies between the host and one GPU", alone.size(), parts);
            int gpu = alone.size();
            Reading<CopyRates> own = awake(driver, uuid);
            alone.add(own);
            own.asOptional()
                    .ifPresent(rates -> work.soFar(
                            gpu, PcieRates.alone(uuid, rates, !work.stopped().getAsBoolean())));
        }
        reports.progress("copies between the host and all GPUs", parts - 2, parts);
        List<Reading<CopyRates>> together = uuids.size() < 2 ? alone : driver.copy(uuids, copies);
        reports.progress("copies between GPUs", parts - 1, parts);
        // A GPU that failed here would take the time of its peers.
        PeerCopies peers = PeerCopies.measure(
                driver,
                peerWork,
                IntStream.range(0, uuids.size())
                        .filter(i -> together.get(i) instanceof Reading.Present<CopyRates>)
                        .mapToObj(uuids::get)
                        .toList(),
                IntStream.range(0, uuids.size())
                        .filter(i -> isWrong(alone.get(i)) || isWrong(together.get(i)))
                        .mapToObj(uuids::get)
                        .collect(Collectors.toSet()));
        List<Reading<PcieRates>> rates = new ArrayList<>();
        for (int i = 0; i < uuids.size(); i++) {
            Reading<CopyRates> shared = together.get(i);
            String uuid = uuids.get(i);
            rates.add(alone.get(i).map(one -> new PcieRates(uuid, one, shared, peers, false)));
        }
        return rates;
    }

    /** Returns the best measurement of a link that wakes. The first wrong one, or the first without a result, ends it. */
    Reading<CopyRates> awake(ComputeDriver driver, String uuid) {
        Reading<CopyRates> best = driver.copy(List.of(uuid), copies).get(0);
        for (int i = 1; i < MOST_MEASUREMENTS && isRight(best); i++) {
            Reading<CopyRates> next = driver.copy(List.of(uuid), copies).get(0);
            if (!isRight(next)) {
                return next;
            }
            double factor = sum(next) / sum(best);
            best = factor > 1 ? next : best;
            if (factor < RISING) {
                break;
            }
        }
        return best;
    }

    private static boolean isRight(Reading<CopyRates> rates) {
        return rates.asOptional().filter(both -> both.data().isRight()).isPresent();
    }

    private static boolean isWrong(Reading<CopyRates> rates) {
        return rates.asOptional().filter(both -> !both.data().isRight()).isPresent();
    }

    private static double sum(Reading<CopyRates> rates) {
        return rates.asOptional().map(both -> both.toDevice() + both.toHost()).orElse(0.0);
    }

    /** Wrong data, and a rate that only a defect explains, need no comparison. */
    @Override
    void evaluateIncomplete(FindingBuilder builder, PcieRates rates) {
        RepeatedWrongNotes.addWrong(builder, rates.verdicts(), WRONG_COPY);
        OptionalLong generation = optional(builder, GpuMetric.PCIE_GENERATION_MAX);
        OptionalLong lanes = optional(builder, GpuMetric.PCIE_WIDTH);
        if (rates.proof() && lanes.isPresent() && generation.isPresent() && !busy(builder.gpu())) {
            PcieLink link = new PcieLink(lanes.getAsLong(), generation.getAsLong());
            crippled(builder, rates, link, whole(builder, link)).ifPresent(low -> low.report(builder, rates));
        }
    }

    private static OptionalLong optional(FindingBuilder builder, GpuMetric metric) {
        return builder.frame().present(metric) ? OptionalLong.of(builder.frame().raw(metric)) : OptionalLong.empty();
    }

    private static PcieLink whole(FindingBuilder builder, PcieLink link) {
        return new PcieLink(
                Math.max(
                        link.lanes(), PcieLinkCheck.lanes(builder, link.lanes()).value()),
                link.generation());
    }

    @Override
    void evaluate(FindingBuilder builder, PcieRates rates, List<PcieRates> siblings) {
        RepeatedWrongNotes.add(builder, rates.verdicts(), WRONG_COPY);
        boolean passed = link(builder, rates, siblings);
        Set<String> busy = builder.peers().stream()
                .filter(ComputeCheck::busy)
                .map(peer -> peer.identity().selector())
                .collect(Collectors.toSet());
        rates.peers()
                .add(
                        builder,
                        rates.uuid(),
                        siblings.stream()
                                .map(PcieRates::uuid)
                                .filter(uuid -> !busy.contains(uuid))
                                .toList(),
                        passed);
    }

    /** Adds the part of the link to the host, and returns whether it passed. */
    private static boolean link(FindingBuilder builder, PcieRates rates, List<PcieRates> siblings) {
        OptionalLong lanes = builder.read(GpuMetric.PCIE_WIDTH);
        OptionalLong generation = builder.read(GpuMetric.PCIE_GENERATION_MAX);
        if (lanes.isEmpty() || generation.isEmpty()) {
            return false;
        }
        PcieLink link = new PcieLink(lanes.getAsLong(), generation.getAsLong());
        if (!rates.isPlausible(link)) {
            builder.unknown(
                    "rate-implausible",
                    rates.text() + ", which is more than the link of " + link + " can carry",
                    "run 'gpuwarden doctor': the driver reports another link or another time");
            return false;
        }
        PcieLink full = whole(builder, link);
        Optional<Low> floor = floor(builder, link, full);
        Optional<Low> low = crippled(builder, rates, link, full)
                .or(() -> floor.filter(least -> rates.slower() < least.expected()))
                .or(() -> behind(builder, link.equals(full) ? siblings : List.of())
                        .filter(least -> rates.slower() < least.expected()));
        if (low.isEmpty()) {
            builder.pass(
                    "pciebw-good",
                    rates.text() + " over a link of " + link,
                    rates.evidence(floor.map(Low::atLeast).orElse("")));
        } else if (busy(builder.gpu())) {
            builder.skip("gpu-busy", rates.text() + ", beside a workload, which takes a part of the link");
        } else {
            low.get().report(builder, rates);
        }
        return low.isEmpty();
    }

    /**
     * A reason to call a rate too low.
     *
     * @param expected GB/s, the least that is expected
     */
    private record Low(boolean fails, String code, double expected, String source) {

        String atLeast() {
            return String.format(Locale.ROOT, "at least %.1f", expected) + " (" + source + ")";
        }

        void report(FindingBuilder builder, PcieRates rates) {
            String text = rates.text() + ", expected " + atLeast();
            String remedy =
                    "compare with 'gpuwarden check gpu-pcie-link'; reseat the board; check riser, slot, BIOS settings,"
                            + " IOMMU and ACS";
            if (fails) {
                builder.fail(code, text, remedy, RecommendedAction.CONTACT_SUPPORT, rates.evidence(atLeast()));
            } else {
                builder.warn(code, text, remedy, rates.evidence(atLeast()));
            }
        }
    }

    /** Returns the reason to call a link crippled, which needs no comparison; empty if it is not, or if the rates are implausible. */
    private static Optional<Low> crippled(FindingBuilder builder, PcieRates rates, PcieLink link, PcieLink full) {
        return builder.limit("pcie_bandwidth_fail_share")
                .map(limit -> new Low(
                        true,
                        "pciebw-crippled",
                        limit.value() * full.gigabytes(),
                        LimitText.brief(limit) + " of the peak of " + full))
                .filter(least -> rates.isPlausible(link) && rates.slower() <= least.expected());
    }

    /** Returns the share of the link's peak, or the board's limit where that is laxer and the link is whole. */
    private static Optional<Low> floor(FindingBuilder builder, PcieLink link, PcieLink full) {
        Optional<Low> share = builder.limit("pciebw_share")
                .map(limit -> new Low(
                        false,
                        "pciebw-low",
                        limit.value() * link.gigabytes(),
                        LimitText.brief(limit) + " of the peak of " + link));
        Optional<Limit> board = builder.limit("pciebw_gigabytes_per_second").filter(limit -> link.equals(full));
        return share.map(least -> board.filter(limit -> limit.value() < least.expected())
                .map(limit -> new Low(false, "pciebw-low", limit.value(), limit.source()))
                .orElse(least));
    }

    private static Optional<Low> behind(FindingBuilder builder, List<PcieRates> siblings) {
        if (siblings.isEmpty()) {
            return Optional.empty();
        }
        double median =
                siblings.stream().mapToDouble(PcieRates::slower).sorted().toArray()[siblings.size() / 2];
        return builder.limit("pciebw_sibling_share")
                .map(limit -> new Low(
                        false,
                        "pciebw-behind-siblings",
                        limit.value() * median,
                        String.format(
                                Locale.ROOT,
                                "%s of the median of the same boards here, %.1f",
                                LimitText.brief(limit),
                                median)));
    }
}
