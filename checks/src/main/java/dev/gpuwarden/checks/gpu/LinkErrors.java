package dev.gpuwarden.checks.gpu;

import dev.gpuwarden.core.check.Limits.Limit;
import dev.gpuwarden.core.health.Measurement;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.LinkMetric;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Rules for the rates of each NVLink's error counters. WARN at most: DCGM fails at them (70, 71), gpud only shows them. */
final class LinkErrors {

    private static final Map<LinkMetric, String> LIMITS = Map.of(
            LinkMetric.CRC_FLIT_ERRORS, "nvlink_crc_errors_per_minute",
            LinkMetric.CRC_DATA_ERRORS, "nvlink_crc_errors_per_minute",
            LinkMetric.REPLAYS, "nvlink_replays_per_minute",
            LinkMetric.RECOVERIES, "nvlink_recoveries_per_minute");

    /** The bound on links in a message; a board with a bad connector may have a hundred. */
    private static final int MOST_NAMED = 6;

    private LinkErrors() {}

    static void evaluate(FindingBuilder builder, Links links) {
        List<String> many = new ArrayList<>();
        List<Measurement> evidence = new ArrayList<>();
        Reading.Absent<?> unread = null;
        for (int i = 0; i < LinkMetric.count(); i++) {
            LinkMetric counter = LinkMetric.of(i);
            Optional<Limit> limit = Optional.ofNullable(LIMITS.get(counter)).flatMap(builder::limit);
            for (int link = 0; limit.isPresent() && link < links.count(); link++) {
                if (unread(builder, links, link, counter) instanceof Reading.Absent<?> absent) {
                    unread = absent;
                }
                double rate = rate(builder, link, counter, limit.get().value());
                if (rate > limit.get().value()) {
                    String seen = LimitText.number(rate) + " " + counter.label().replace('_', ' ');
                    many.add(seen + " a minute on link " + link + ", limit " + LimitText.brief(limit.get()));
                    if (evidence.size() == MOST_NAMED) {
                        continue;
                    }
                    evidence.add(LimitText.atMost(
                            "nvlink_" + link + "_" + counter.label() + "_per_minute", rate, limit.get()));
                }
            }
        }
        if (unread != null) {
            builder.absent(unread, "errors of NVLinks");
        }
        if (!many.isEmpty()) {
            builder.warn(
                    "nvlink-errors",
                    "expected few errors on NVLinks, but there were " + shortened(many),
                    "a link with errors is about to fail: search the kernel log for XID 74 and 144 to 150",
                    evidence.toArray(Measurement[]::new));
        }
    }

    /** Returns the counter of a link that is up, whose absence by an error must not pass for "no errors". */
    private static Reading<Long> unread(FindingBuilder builder, Links links, int link, LinkMetric counter) {
        int slot = GpuFrame.slot(counter, link);
        boolean counts = (links.up() >>> link & 1) == 1
                && !FindingBuilder.notOffered(builder.frame().absence(slot));
        return counts ? builder.frame().reading(slot) : Reading.of(0L);
    }

    private static String shortened(List<String> many) {
        return many.size() <= MOST_NAMED
                ? String.join(", ", many)
                : String.join(", ", many.subList(0, MOST_NAMED)) + " and " + (many.size() - MOST_NAMED) + " more";
    }

    /** Returns 0 for a counter that is absent: a link without a counter is not faulty. */
    private static double rate(FindingBuilder builder, int link, LinkMetric counter, double limit) {
        int slot = GpuFrame.slot(counter, link);
        if (!builder.frame().present(slot) || builder.frame().raw(slot) == 0) {
            return 0;
        }
        return Rate.perMinute(window -> builder.history().increase(link, counter, window), limit)
                .asOptional()
                .orElse(0.0);
    }
}
