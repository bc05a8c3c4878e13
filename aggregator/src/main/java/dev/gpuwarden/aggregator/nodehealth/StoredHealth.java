package dev.gpuwarden.aggregator.nodehealth;

import dev.gpuwarden.aggregator.client.JsonTrees;
import dev.gpuwarden.aggregator.nodehealth.NodeHealthException.Superseded;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Comparator;
import java.util.Map;
import java.util.Optional;

/**
 * What the cluster had of a node when it last answered.
 *
 * @param nodeUid of the Node to which the resource belongs; empty where to none
 * @param version of the resource; a write that names it is refused when somebody has changed the resource since
 * @param claim on which stream it was told; absent where nobody has told anything
 * @param acknowledged the node's last event that is in it; 0 where none is
 */
public record StoredHealth(String nodeUid, String version, Optional<StreamEpoch> claim, long acknowledged) {

    static StoredHealth of(Map<?, ?> resource) {
        Map<?, ?> metadata = JsonTrees.object(resource, "metadata");
        Map<?, ?> status = JsonTrees.object(resource, "status");
        return new StoredHealth(
                nodeUid(metadata),
                JsonTrees.text(metadata, "resourceVersion"),
                claim(status),
                JsonTrees.longNumber(status, "acknowledgedSequence"));
    }

    private static String nodeUid(Map<?, ?> metadata) {
        return JsonTrees.objects(metadata, "ownerReferences").stream()
                .filter(owner -> JsonTrees.text(owner, "kind").equals("Node"))
                .map(owner -> JsonTrees.text(owner, "uid"))
                .findFirst()
                .orElse("");
    }

    private static Optional<StreamEpoch> claim(Map<?, ?> status) {
        try {
            Instant connected = Instant.parse(JsonTrees.text(status, "connected"));
            return Optional.of(new StreamEpoch(connected, JsonTrees.text(status, "reporter")));
        } catch (DateTimeException e) {
            return Optional.empty();
        }
    }

    /**
     * Why what was told on a stream may not be written over this; empty where it may.
     *
     * @param uid of the Node when the stream began
     */
    Optional<Superseded> supersedes(StreamEpoch stream, String uid) {
        if (!nodeUid.equals(uid)) {
            return Optional.of(Superseded.otherNode());
        }
        return claim.filter(there -> there.compareTo(stream) > 0).map(Superseded::newerStream);
    }

    /**
     * On which stream of its node a status was told. Of two the later counts, whichever aggregator has it: aggregators know nothing
     * of each other.
     *
     * @param connected when the stream began, in milliseconds of the node's own clock, and after all that was known of others then
     * @param reporter the aggregator that has it
     */
    public record StreamEpoch(Instant connected, String reporter) implements Comparable<StreamEpoch> {

        private static final Comparator<StreamEpoch> ORDER =
                Comparator.comparing(StreamEpoch::connected).thenComparing(StreamEpoch::reporter);

        /** The claim of a stream that begins when this was seen: later than that, whatever the node's clock says. */
        public static StreamEpoch next(Optional<StreamEpoch> seen, Instant opened, String reporter) {
            Instant own = opened.truncatedTo(ChronoUnit.MILLIS);
            Instant least = seen.map(claim -> claim.connected().plusMillis(1)).orElse(own);
            return new StreamEpoch(own.isBefore(least) ? least : own, reporter);
        }

        @Override
        public int compareTo(StreamEpoch other) {
            return ORDER.compare(this, other);
        }
    }
}
