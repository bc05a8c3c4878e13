package dev.gpuwarden.aggregator.nodehealth;

import dev.gpuwarden.aggregator.client.JsonTrees;
import java.time.DateTimeException;
import java.time.Instant;
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
}
