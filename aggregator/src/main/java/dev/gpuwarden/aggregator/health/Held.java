package dev.gpuwarden.aggregator.health;

import dev.gpuwarden.aggregator.json.Trees;
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
public record Held(String nodeUid, String version, Optional<Claim> claim, long acknowledged) {

    static Held of(Map<?, ?> resource) {
        Map<?, ?> metadata = Trees.object(resource, "metadata");
        Map<?, ?> status = Trees.object(resource, "status");
        return new Held(
                nodeUid(metadata),
                Trees.text(metadata, "resourceVersion"),
                claim(status),
                Trees.longNumber(status, "acknowledgedSequence"));
    }

    private static String nodeUid(Map<?, ?> metadata) {
        return Trees.objects(metadata, "ownerReferences").stream()
                .filter(owner -> Trees.text(owner, "kind").equals("Node"))
                .map(owner -> Trees.text(owner, "uid"))
                .findFirst()
                .orElse("");
    }

    private static Optional<Claim> claim(Map<?, ?> status) {
        try {
            Instant connected = Instant.parse(Trees.text(status, "connected"));
            return Optional.of(new Claim(connected, Trees.text(status, "reporter")));
        } catch (DateTimeException e) {
            return Optional.empty();
        }
    }

    /**
     * Why what was told on a stream may not be written over this; empty where it may.
     *
     * @param uid of the Node when the stream began
     */
    Optional<Superseded> supersedes(Claim stream, String uid) {
        if (!nodeUid.equals(uid)) {
            return Optional.of(Superseded.otherNode());
        }
        return claim.filter(there -> there.compareTo(stream) > 0).map(Superseded::newerStream);
    }
}
