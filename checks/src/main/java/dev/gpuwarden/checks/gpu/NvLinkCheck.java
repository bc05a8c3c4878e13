package dev.gpuwarden.checks.gpu;

import com.google.auto.service.AutoService;
import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.HealthCheck;
import dev.gpuwarden.core.check.Limits.Limit;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.health.Measurement;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.telemetry.GpuMetric;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * NVLinks that are down, and links with errors. NVIDIA's Health Validation allows no inactive link and resets first;
 * DCGM 14 requests triage; gpud requests a reboot if a node of NVLink boards has none.
 *
 * <p>NVML does not report which links should be up: bridges of PCIe boards are optional, and DCGM's health watch raises
 * false alarms about them (NVSentinel 1481). A link is missed in three cases: it was up before; the board always has it
 * (limits, for baseboards with switches, if the node has at least two such GPUs); or all other boards of the kind have
 * it while this one has some. Links that are down alike on all boards may be intended, and are WARN. Links train for minutes after a
 * boot or a load of the driver, so a link that was never up waits for that.
 */
@AutoService(HealthCheck.class)
public final class NvLinkCheck extends GpuCheck {

    @Override
    public CheckInfo info() {
        return CheckInfo.of("gpu-nvlink", "GPU", "NVLinks that should be up are up, with few errors.")
                .damped(2, 3);
    }

    /** Keeps, by GPU, the links that were seen up in this boot, as a bit mask. */
    @Override
    void evaluate(FindingBuilder builder) {
        OptionalLong count = builder.read(GpuMetric.NVLINK_LINKS);
        OptionalLong mig = builder.optional(GpuMetric.MIG_MODE, 0);
        if (count.isEmpty() || mig.isEmpty()) {
            return;
        }
        Links links = Links.of(builder.frame());
        if (links.count() == 0) {
            builder.skip("no-nvlink", "it has no NVLink");
        } else if (mig.getAsLong() == 1) {
            // NVIDIA, MIG User Guide: partitions have no peer-to-peer access, so the links are unused.
            builder.skip("nvlink-unused", "MIG is on, which leaves NVLink unused");
        } else if (links.unread().isPresent()) {
            builder.absent(links.unread().get(), "state of NVLinks");
        } else {
            long before = builder.context()
                    .bootNotes()
                    .merge(builder.gpu().identity().selector(), links.up(), (seen, now) -> seen | now);
            state(builder, links, before);
            LinkErrors.evaluate(builder, links);
        }
    }

    /** Returns the number of links that this board always has, if the node has another one to link with. */
    private static Optional<Limit> always(FindingBuilder builder) {
        Reading<String> name = builder.gpu().identity().name();
        return builder.limit("nvlink_links_count")
                .filter(limit -> limit.value() > 0
                        && builder.context().node().gpus().stream()
                                        .filter(other -> other.identity().name().equals(name))
                                        .count()
                                > 1);
    }

    /** @param before mask of the links that were up earlier */
    private static void state(FindingBuilder builder, Links links, long before) {
        List<Links> others =
                builder.peers().stream().map(other -> Links.of(other.frame())).toList();
        long lost = links.down() & before;
        Optional<Limit> always = always(builder);
        long due = Math.min(
                links.count(), always.map(limit -> (long) limit.value()).orElse(0L));
        long missed = links.up() == 0 || others.isEmpty()
                ? 0
                : links.down() & others.stream().mapToLong(Links::up).reduce(~0L, (a, b) -> a & b);
        if (lost != 0) {
            down(builder, links, lost, "that were up before");
        } else if ((missed != 0 || Long.bitCount(links.up()) < due)
                && builder.context().young().isPresent()) {
            builder.unknown(
                    "nvlink-training",
                    "NVLinks " + Links.names(links.down()) + " are not up yet; "
                            + builder.context().young().get(),
                    "wait");
        } else if (always.isPresent() && Long.bitCount(links.up()) < due) {
            boolean alike = !others.isEmpty() && others.stream().allMatch(other -> other.down() == links.down());
            if (alike) {
                builder.warn(
                        "nvlink-down-everywhere",
                        "expected " + due + " NVLinks up, limit " + LimitText.brief(always.get()) + ", but "
                                + Long.bitCount(links.up()) + " are, the same on all boards of its kind",
                        "check that nvidia-fabricmanager runs; if this is intended, set nvlink_links_count for this"
                                + " board",
                        LimitText.atLeast("nvlink_links_count", Long.bitCount(links.up()), always.get()));
            } else {
                down(builder, links, links.down(), "of " + due + ", limit " + LimitText.brief(always.get()));
            }
        } else if (missed != 0) {
            down(builder, links, missed, "that all other boards of its kind have up");
        } else if (links.up() == 0) {
            builder.skip("nvlink-not-connected", "none of its " + links.count() + " NVLinks is connected");
        } else {
            builder.pass("nvlink-up", Long.bitCount(links.up()) + " of " + links.count() + " NVLinks are up");
        }
    }

    private static void down(FindingBuilder builder, Links links, long down, String which) {
        builder.fail(
                "nvlink-down",
                "expected NVLinks up " + which + ", but down " + (Long.bitCount(down) == 1 ? "is " : "are ")
                        + Links.names(down),
                "search the kernel log for XID 74 and 144 to 150; drain it and reset the GPU, then reboot, then have"
                        + " board and baseboard inspected",
                RecommendedAction.COMPONENT_RESET,
                new Measurement(
                        "nvlink_links_count",
                        Long.bitCount(links.up()),
                        "at least " + (Long.bitCount(links.up()) + Long.bitCount(down))));
    }
}
