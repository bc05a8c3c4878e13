package dev.gpuwarden.checks.host;

import dev.gpuwarden.checks.LastingState;
import dev.gpuwarden.checks.node.Sysfs;
import dev.gpuwarden.core.check.CheckContext;
import dev.gpuwarden.core.check.Limits.Limit;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Measurement;
import dev.gpuwarden.core.model.Reading;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The state of one port's link. A port that is down is a fault only if it was up before in this boot. Most nodes have unused ports, and
 * the same ones on all nodes of a fleet, so other ports prove nothing. The user's number of ports covers those that never come up.
 */
final class PortLink {

    /** A link that is down for longer does not recover by itself (gpud, infiniband drop). */
    static final Duration DROPPED = Duration.ofMinutes(4);

    private static final Duration FLAP_WINDOW = Duration.ofHours(1);
    private static final int MOST_FLAPS = 64;
    private static final int FEWEST_PEERS = 3;

    private final Map<String, Long> notes;
    private final Map<String, Long> boot;
    private final Instant now;
    private final Duration every;
    private final Optional<String> training;
    private final Optional<Limit> flaps;

    /** @param every interval of the check */
    PortLink(CheckContext context, Duration every) {
        this.notes = context.notes();
        this.boot = context.bootNotes();
        this.now = context.now();
        this.every = every;
        this.training = context.young();
        this.flaps = context.limits().of("nic_link_downs_per_hour");
    }

    Finding evaluate(RdmaPort port, List<RdmaPort> all) {
        if (port.switchedOff()) {
            notes.remove("up " + port.key());
            boot.remove("up " + port.key());
            LastingState.over(notes, down(port));
            return Finding.skipped("nic-port-off", port.subject(), port.name() + " is switched off");
        }
        if (port.state() instanceof Reading.Absent<Long> absent) {
            return Finding.unknown(
                    "nic-unreadable",
                    port.subject(),
                    port.name() + ": its state cannot be read: " + absent.text(),
                    "search the kernel log for the driver's messages, or exclude the device with --check.nic-exclude");
        }
        List<RdmaPort> peers = all.stream()
                .filter(other -> !other.key().equals(port.key()))
                .filter(other -> !port.kind().isEmpty() && other.kind().equals(port.kind()))
                .filter(other -> !other.switchedOff())
                .toList();
        return port.active() ? up(port, peers) : notUp(port, peers);
    }

    private Finding up(RdmaPort port, List<RdmaPort> peers) {
        LastingState.over(notes, down(port));
        boot.put("up " + port.key(), 1L);
        double rate = port.rateGbps().asOptional().orElse(0.0);
        double before = notes.merge("up " + port.key(), Math.round(rate * 1000), Math::max) / 1000.0;
        int downs = downs(port);
        if (flaps.isPresent() && downs >= flaps.get().value()) {
            return flapping(port, downs, flaps.get());
        }
        double usual = Math.max(before, usualRate(peers));
        if (rate > 0 && rate < usual) {
            return Finding.warn(
                            "nic-port-slow",
                            port.subject(),
                            port.name() + " runs at " + HostLimit.number(rate) + " Gb/s, expected "
                                    + HostLimit.number(usual)
                                    + (before == usual ? " as before" : " as the others of its kind"),
                            "inspect cable, transceiver and switch port")
                    .with(new Measurement("rate_gbps", rate, "at least " + HostLimit.number(usual)));
        }
        return Finding.pass(
                "nic-port",
                port.subject(),
                port.name() + " is up" + (rate > 0 ? " at " + HostLimit.number(rate) + " Gb/s" : ""));
    }

    private static Finding flapping(RdmaPort port, int downs, Limit limit) {
        return Finding.fail(
                        "nic-port-flapping",
                        port.subject(),
                        port.name() + " lost its link at least " + downs + " times within an hour, expected fewer than "
                                + HostLimit.brief(limit),
                        "inspect cable, transceiver and switch port",
                        RecommendedAction.CONTACT_SUPPORT)
                .with(new Measurement("nic_link_downs_per_hour", downs, HostLimit.full("fewer than", limit)));
    }

    private static String down(RdmaPort port) {
        return "down " + port.key();
    }

    private Finding notUp(RdmaPort port, List<RdmaPort> peers) {
        downs(port);
        boolean wasUp = boot.containsKey("up " + port.key());
        long up = peers.stream().filter(RdmaPort::active).count();
        boolean othersUp = up >= FEWEST_PEERS && up >= 3 * (peers.size() - up + 1);
        if (!wasUp && othersUp && training.isPresent()) {
            return Finding.unknown(
                    "nic-port-training",
                    port.subject(),
                    port.name() + " is not up yet (" + port.stateText() + "); " + training.get(),
                    "wait");
        }
        if (!wasUp) {
            return Finding.skipped(
                    "nic-port-unused",
                    port.subject(),
                    port.name() + " is down (" + port.stateText()
                            + ") and was not seen up since the node booted; treated as unused");
        }
        Duration since = LastingState.seen(notes, down(port), now, every);
        boolean dropped = since.compareTo(DROPPED) >= 0;
        String why = port.unmanaged() ? " has a link, but no subnet manager has configured it (" : " has no link (";
        return Finding.fail(
                        "nic-port-down",
                        port.subject(),
                        port.name() + why + port.stateText() + "), expected ACTIVE: it was up before",
                        port.unmanaged()
                                ? "check that the subnet manager runs"
                                : "inspect cable, transceiver and switch port",
                        dropped ? RecommendedAction.CONTACT_SUPPORT : RecommendedAction.NONE)
                .with(new Measurement("down_seconds", since.toSeconds(), ""));
    }

    /**
     * Returns how often the link was lost during the last hour, up to the number that matters. The port's own counter
     * also sees changes between two runs; without one, runs are compared. Network setup while the node starts counts
     * too, and is no flap.
     */
    private int downs(RdmaPort port) {
        if (training.isPresent()) {
            return 0;
        }
        int most =
                (int) Math.max(1, Math.min(MOST_FLAPS, flaps.map(Limit::value).orElse(1.0)));
        Reading<Long> counter = counter(port);
        String key = "downs " + port.key();
        if (counter instanceof Reading.Present<Long> present) {
            return RecentIncreases.note(notes, key, present.value(), now, FLAP_WINDOW, most);
        }
        boolean fell =
                !port.active() && boot.containsKey("up " + port.key()) && !LastingState.isSeen(notes, down(port));
        long seen = notes.getOrDefault(key, 0L) + (fell ? 1 : 0);
        return RecentIncreases.note(notes, key, seen, now, FLAP_WINDOW, most);
    }

    private static Reading<Long> counter(RdmaPort port) {
        Reading<Long> downed = Sysfs.number(port.folder().resolve("counters/link_downed"));
        if (downed instanceof Reading.Absent<Long> && port.interfaceFolder().isPresent()) {
            Path folder = port.interfaceFolder().get();
            return Sysfs.number(folder.resolve("carrier_down_count"));
        }
        return downed;
    }

    /** Returns the rate of the other ports if all have the same and they are enough to compare with. */
    private static double usualRate(List<RdmaPort> peers) {
        List<Double> rates = peers.stream()
                .filter(RdmaPort::active)
                .flatMap(peer -> peer.rateGbps().asOptional().stream())
                .toList();
        return rates.size() >= FEWEST_PEERS && rates.stream().distinct().count() == 1 ? rates.get(0) : 0;
    }
}
