package dev.gpuwarden.aggregator.objectmonitor;

import java.time.Instant;

/**
 * An object that a policy says is wrong, and stays so until it has recovered.
 *
 * @param since when it was first seen to match
 * @param digest of the policy by which it matches
 * @param confirmed whether it has been seen since this replica follows the objects; else it is known from before
 * @param heardNanos when it was heard of that made it match, by {@link System#nanoTime}
 */
record Match(String node, Instant since, String digest, boolean confirmed, long heardNanos) {

    /** Which object by which policy. */
    record Key(String policy, String object) {

        /** All objects of a node together, by a policy that counts them. */
        static Key whole(String policy) {
            return new Key(policy, "");
        }

        boolean isWhole() {
            return object.isEmpty();
        }

        @Override
        public String toString() {
            return isWhole() ? policy : policy + "/" + object;
        }
    }

    /** The same object as it is known already: it has matched since then, unless it concerned another node. */
    Match after(Match before) {
        return node.equals(before.node) ? new Match(node, before.since, digest, true, before.heardNanos) : this;
    }

    Match seen() {
        return confirmed ? this : new Match(node, since, digest, true, heardNanos);
    }

    Match unseen() {
        return confirmed ? new Match(node, since, digest, false, heardNanos) : this;
    }
}
