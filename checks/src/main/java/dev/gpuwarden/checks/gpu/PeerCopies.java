package dev.gpuwarden.checks.gpu;

import dev.gpuwarden.core.check.Limits.Limit;
import dev.gpuwarden.core.compute.CopiedData;
import dev.gpuwarden.core.compute.PeerRates;
import dev.gpuwarden.core.compute.ResultVerdict;
import dev.gpuwarden.core.compute.WrongResults;
import dev.gpuwarden.core.health.Measurement;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.port.ComputeDriver;
import dev.gpuwarden.core.port.ComputeDriver.CopyWork;
import dev.gpuwarden.core.port.ComputeDriver.PeerPair;
import dev.gpuwarden.core.port.ComputeDriver.PeerRate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;

/**
 * Copies between all pairs of GPUs. In each of n - 1 rounds every GPU is the source of one pair and the target of another,
 * so that a node of 16 GPUs takes 15 rounds and not 240.
 *
 * @param rates by pair; pairs that there was no time for are not among them
 * @param wrongWithHost UUIDs of GPUs whose copies with the host are wrong
 */
record PeerCopies(Map<PeerPair, Reading<PeerRate>> rates, Set<String> wrongWithHost) {

    /** Two copies before and some 50 us of copies: 0.1 ms for each pair over NVLink, 2 ms over PCIe. */
    static final CopyWork WORK = new CopyWork(8 << 20, Duration.ofNanos(50_000), Duration.ofSeconds(5));

    /** The end of the last round that is begun. */
    private static final Duration MOST = Duration.ofSeconds(20);

    /** Before the first copy. */
    static final PeerCopies NONE = new PeerCopies(Map.of(), Set.of());

    static PeerCopies measure(ComputeDriver driver, CopyWork work, List<String> uuids, Set<String> wrongWithHost) {
        Map<PeerPair, Reading<PeerRate>> rates = new HashMap<>();
        long end = System.nanoTime() + MOST.toNanos();
        for (int shift = 1; shift < uuids.size() && System.nanoTime() < end; shift++) {
            List<PeerPair> pairs = new ArrayList<>();
            for (int from = 0; from < uuids.size(); from++) {
                pairs.add(new PeerPair(uuids.get(from), uuids.get((from + shift) % uuids.size())));
            }
            List<Reading<PeerRate>> measured = driver.copyToPeers(pairs, work);
            for (int i = 0; i < pairs.size(); i++) {
                rates.put(pairs.get(i), measured.get(i));
            }
        }
        return new PeerCopies(rates, wrongWithHost);
    }

    /**
     * Returns the verdicts on wrong data of copies from and to a GPU; none if another GPU explains all of it. A wrong pair names the GPU
     * with more wrong pairs, in either direction; first of all one whose copies with the host are wrong. Both are named if that is equal.
     */
    List<ResultVerdict> wrong(String own) {
        Map<PeerPair, CopiedData> wrong = new HashMap<>();
        Map<String, Integer> weights = new HashMap<>();
        wrongWithHost.forEach(uuid -> weights.put(uuid, rates.size()));
        rates.forEach((pair, reading) -> reading.asOptional()
                .map(PeerRate::data)
                .filter(data -> !data.isRight())
                .ifPresent(data -> {
                    wrong.put(pair, data);
                    weights.merge(pair.fromUuid(), 1, Integer::sum);
                    weights.merge(pair.toUuid(), 1, Integer::sum);
                }));
        List<ResultVerdict> verdicts = new ArrayList<>();
        wrong.forEach((pair, data) -> {
            boolean source = pair.fromUuid().equals(own);
            String other = source ? pair.toUuid() : pair.fromUuid();
            if ((source || pair.toUuid().equals(own))
                    && weights.getOrDefault(own, 0) >= weights.getOrDefault(other, 0)) {
                verdicts.add(WrongResults.ofCopies("copies " + (source ? "to " : "from ") + other, data));
            }
        });
        verdicts.sort(Comparator.comparing(ResultVerdict::text));
        return verdicts;
    }

    /**
     * Adds the part of one GPU. A low rate is evidence only on boards with a limit, whose pairs are all connected alike; on others, such
     * as pairs over PCIe or over bridges, the rate depends on the place of both.
     *
     * @param own its UUID
     * @param equal UUIDs of equal boards that have no workload
     * @param passed whether the GPU's own link passed: good copies alone must not clear a fault of the link
     */
    void add(FindingBuilder builder, String own, List<String> equal, boolean passed) {
        Optional<Reading.Absent<?>> failure = rates.entrySet().stream()
                .filter(entry -> entry.getKey().fromUuid().equals(own))
                .flatMap(entry -> entry.getValue() instanceof Reading.Absent<PeerRate> absent
                        ? Optional.<Reading.Absent<?>>of(absent).stream()
                        : Optional.<Reading.Absent<?>>empty().stream())
                .findFirst();
        if (failure.isPresent()) {
            ComputeCheck.unmeasured(builder, failure.get());
            return;
        }
        OptionalDouble least = matrix(own, List.copyOf(others(own))).least(0);
        if (least.isEmpty()) {
            return;
        }
        PeerRates alike = matrix(own, equal);
        Optional<Floor> floor = ComputeCheck.busy(builder.gpu()) ? Optional.empty() : floor(builder, alike);
        List<Integer> slow = floor.map(one -> alike.slowPeers(0, one.value())).orElse(List.of());
        Measurement evidence = new Measurement(
                "peer_gigabytes_per_second",
                least.getAsDouble(),
                floor.map(Floor::text).orElse(""));
        if (slow.isEmpty() && passed) {
            builder.pass(
                    "peer-copies-good",
                    String.format(Locale.ROOT, "%.1f GB/s or more between it and each other GPU", least.getAsDouble()),
                    evidence);
        } else if (!slow.isEmpty()) {
            List<Integer> pairs = new ArrayList<>(List.of(0));
            pairs.addAll(slow);
            builder.warn(
                    "peer-copies-low",
                    String.format(
                            Locale.ROOT,
                            "%.1f GB/s with %d of %d equal GPUs, expected %s",
                            alike.of(pairs).least(0).orElseThrow(),
                            slow.size(),
                            equal.size(),
                            floor.orElseThrow().text()),
                    "compare with 'gpuwarden check gpu-nvlink gpu-fabric'; check Fabric Manager, IOMMU and ACS",
                    evidence);
        }
    }

    private List<String> others(String own) {
        return rates.keySet().stream()
                .filter(pair -> pair.fromUuid().equals(own))
                .map(PeerPair::toUuid)
                .toList();
    }

    /** Returns gigabytes a second between a GPU, which is the first one, and others. */
    private PeerRates matrix(String own, List<String> others) {
        List<String> all = new ArrayList<>(List.of(own));
        all.addAll(others);
        double[][] matrix = new double[all.size()][all.size()];
        for (int from = 0; from < matrix.length; from++) {
            for (int to = 0; to < matrix.length; to++) {
                matrix[from][to] = Optional.ofNullable(rates.get(new PeerPair(all.get(from), all.get(to))))
                        .flatMap(Reading::asOptional)
                        .map(rate -> rate.bytesPerSecond() / 1e9)
                        .orElse(Double.NaN);
            }
        }
        return new PeerRates(matrix);
    }

    /** The least rate that is expected, in GB/s. */
    private record Floor(double value, String source) {
        String text() {
            return String.format(Locale.ROOT, "at least %.0f (%s)", value, source);
        }
    }

    /** Returns the board's limit, or a share of the median of equal boards if that is more; empty for boards without a limit. */
    private static Optional<Floor> floor(FindingBuilder builder, PeerRates alike) {
        Optional<Floor> board =
                builder.limit("peer_copy_gigabytes_per_second").map(limit -> new Floor(limit.value(), limit.source()));
        Optional<Limit> share = builder.limit("pciebw_sibling_share");
        OptionalDouble median = alike.median();
        return board.map(least -> {
            double siblings = share.map(Limit::value).orElse(0.0) * median.orElse(0);
            return siblings <= least.value()
                    ? least
                    : new Floor(
                            siblings,
                            String.format(
                                    Locale.ROOT,
                                    "%s of the median of the same boards here, %.1f",
                                    LimitText.brief(share.orElseThrow()),
                                    median.orElseThrow()));
        });
    }
}
