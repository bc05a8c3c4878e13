package dev.gpuwarden.aggregator.nodehealth;

import dev.gpuwarden.aggregator.nodehealth.NodeHealthException.Superseded;
import dev.gpuwarden.core.util.JsonTrees;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Comparator;
import java.util.Map;
import java.util.Optional;

/**
 * The stored health of a node, as in the cluster's last answer.
 *
 * @param nodeUid UID of the Node that owns the resource; empty if none does
 * @param version version of the resource; a write that names it is refused if another writer has changed the resource since
 * @param claim epoch of the stream that reported it; empty if no node has reported
 * @param acknowledged number of the node's last event that it contains; 0 if none
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
     * Returns the reason why a report of a stream must not replace this; empty if it may.
     *
     * @param uid UID of the Node when the stream began
     */
    Optional<Superseded> supersedes(StreamEpoch stream, String uid) {
        if (!nodeUid.equals(uid)) {
            return Optional.of(Superseded.otherNode());
        }
        return claim.filter(there -> there.compareTo(stream) > 0).map(Superseded::newerStream);
    }

    /**
     * The epoch of a node's stream. The later of two epochs counts, whichever aggregator has the stream, because
     * aggregators do not communicate.
     *
     * @param connected begin of the stream, in milliseconds of the node's own clock, and after all earlier epochs known then
     * @param reporter name of the aggregator that has the stream
     */
    public record StreamEpoch(Instant connected, String reporter) implements Comparable<StreamEpoch> {

        private static final Comparator<StreamEpoch> ORDER =
                Comparator.comparing(StreamEpoch::connected).thenComparing(StreamEpoch::reporter);

        /**
         * Returns the epoch of a stream that begins after this one was seen: later than it, even if the node's clock is behind.
         */
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
