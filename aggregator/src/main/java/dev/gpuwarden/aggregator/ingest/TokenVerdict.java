package dev.gpuwarden.aggregator.ingest;

import dev.gpuwarden.aggregator.client.JsonTrees;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * What a TokenReview's status says of a caller. Pure.
 *
 * @param caller absent where the token is good for nothing here
 * @param why for the caller; without the token
 */
record TokenVerdict(Optional<Caller> caller, String why) {

    private static final String NODE = "authentication.kubernetes.io/node-name";
    private static final String POD = "authentication.kubernetes.io/pod-name";
    private static final String ACCOUNT = "system:serviceaccount:";

    /**
     * @param audience that the token must be for, so that one for the API server or another program opens nothing here
     * @param account `namespace:name` of the daemons' service account
     * @param monitors `namespace/name` of the service accounts that may report faults of any node
     */
    static TokenVerdict of(Map<?, ?> status, String audience, String account, Set<String> monitors) {
        if (!JsonTrees.isTrue(status, "authenticated")) {
            return no("the API server does not know the token, or it is of another audience than '" + audience + "'");
        }
        if (!JsonTrees.textList(status, "audiences").contains(audience)) {
            return no("the token is of another audience than '" + audience + "'");
        }
        Map<?, ?> user = JsonTrees.object(status, "user");
        String name = JsonTrees.text(user, "username");
        if (name.startsWith(ACCOUNT)) {
            String monitor = name.substring(ACCOUNT.length()).replace(':', '/');
            if (monitors.contains(monitor)) {
                return new TokenVerdict(Optional.of(Caller.monitor(monitor)), "");
            }
        }
        if (!name.equals(ACCOUNT + account)) {
            return no("the token is of '" + name + "', neither of '" + ACCOUNT + account + "' nor of a monitor");
        }
        Map<?, ?> extra = JsonTrees.object(user, "extra");
        List<String> nodes = JsonTrees.textList(extra, NODE);
        List<String> pods = JsonTrees.textList(extra, POD);
        if (nodes.size() != 1 || pods.size() != 1) {
            return no("the token is not bound to one pod on one node, as projected tokens are");
        }
        return new TokenVerdict(Optional.of(Caller.node(Set.of(nodes.get(0)), "token of pod " + pods.get(0))), "");
    }

    static TokenVerdict no(String why) {
        return new TokenVerdict(Optional.empty(), why);
    }
}
