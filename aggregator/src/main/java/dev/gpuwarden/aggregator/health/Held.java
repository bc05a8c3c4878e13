package dev.gpuwarden.aggregator.health;

import dev.gpuwarden.aggregator.cluster.Fields;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.List;
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
        Map<?, ?> metadata = Fields.map(resource, "metadata");
        Map<?, ?> status = Fields.map(resource, "status");
        return new Held(
                nodeUid(metadata),
                Fields.text(metadata, "resourceVersion"),
                claim(status),
                Fields.number(status, "acknowledgedSequence"));
    }

    private static String nodeUid(Map<?, ?> metadata) {
        List<?> owners = metadata.get("ownerReferences") instanceof List<?> list ? list : List.of();
        return owners.stream()
                .filter(owner -> owner instanceof Map<?, ?> map
                        && Fields.text(map, "kind").equals("Node"))
                .map(owner -> Fields.text((Map<?, ?>) owner, "uid"))
                .findFirst()
                .orElse("");
    }

    private static Optional<Claim> claim(Map<?, ?> status) {
        try {
            Instant connected = Instant.parse(Fields.text(status, "connected"));
            return Optional.of(new Claim(connected, Fields.text(status, "reporter")));
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
