package dev.gpuwarden.aggregator.objectmonitor;

import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.client.ResourceInformer;
import dev.gpuwarden.aggregator.client.ResourceKind;
import dev.gpuwarden.aggregator.objectmonitor.MonitorPolicy.ResourceType;
import dev.gpuwarden.aggregator.objectmonitor.PolicyStatus.PolicyAssessor;
import dev.gpuwarden.aggregator.objectmonitor.PolicyStatus.Trouble;
import dev.gpuwarden.cli.Spelling;
import dev.gpuwarden.core.util.JsonTrees;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * An informer on the objects of one type, for several policies. It also works for a type that does not exist yet, or that this
 * program may not list: it then reports the reason and tries again. One thread calls it, except for its getters.
 */
final class KindInformer implements AutoCloseable {

    /** The successive replies without the type, after which its objects are taken as deleted. */
    private static final int SURE = 2;

    private final KubeClient api;
    private final ResourceType type;
    private final List<PolicyStats> policies;
    private final MatchIndex book;
    private final PolicyEvaluator watch;
    private final Duration brokenWatch;
    private volatile @Nullable ResourceInformer mirror;
    private int absent;
    private long brokenSince;
    private volatile Optional<Trouble> trouble = Optional.empty();
    private volatile boolean watching;

    /** @param brokenWatch the time for which a broken watch is no trouble */
    KindInformer(
            KubeClient api,
            ResourceType type,
            List<PolicyStats> policies,
            MatchIndex book,
            PolicyEvaluator watch,
            Duration brokenWatch) {
        this.api = api;
        this.type = type;
        this.policies = List.copyOf(policies);
        this.book = book;
        this.watch = watch;
        this.brokenWatch = brokenWatch;
    }

    List<PolicyStats> policies() {
        return policies;
    }

    /**
     * Reads the state of the watch, and opens or closes it if necessary.
     *
     * @param ask true if the API server may be asked, which blocks
     */
    void tend(boolean ask) throws InterruptedException {
        ResourceInformer open = mirror;
        if (open == null) {
            if (ask) {
                search();
            }
            return;
        }
        watching = open.watching();
        if (watching) {
            brokenSince = 0;
            trouble = Optional.empty();
            return;
        }
        if (brokenSince == 0) {
            brokenSince = System.nanoTime();
        }
        if (!ask || System.nanoTime() - brokenSince < brokenWatch.toNanos()) {
            return;
        }
        Discovery found = Discovery.find(api, type);
        trouble = found.trouble();
        if (found.absent()) {
            // The informer would find nothing permanently, or another type that has the name by then.
            open.close();
            mirror = null;
            brokenSince = 0;
            missing();
        }
    }

    private void search() throws InterruptedException {
        Discovery found = Discovery.find(api, type);
        trouble = found.trouble();
        if (found.absent()) {
            missing();
        } else if (found.kind().isPresent()) {
            absent = 0;
            mirror = api.informer(found.kind().get(), watch);
        }
    }

    private void missing() {
        watching = false;
        if (++absent >= SURE) {
            policies.forEach(run -> book.removeIf(run.name(), any -> true));
        }
    }

    PolicyAssessor.Standing standing() {
        return new PolicyAssessor.Standing(trouble, mirror != null && watch.isComplete(), objects());
    }

    boolean watching() {
        return watching;
    }

    int objects() {
        ResourceInformer open = mirror;
        return open == null ? 0 : open.size();
    }

    int timed() {
        return watch.timed();
    }

    void resync() {
        watch.resync();
    }

    @Override
    public void close() {
        watch.close();
        ResourceInformer open = mirror;
        if (open != null) {
            open.close();
            mirror = null;
        }
    }

    /**
     * The name of a type in the API server's paths, and whether this program may list and watch it.
     *
     * @param kind the resource; empty if it cannot be watched now
     * @param trouble the reason; empty if it can be watched
     * @param absent true if the API server has replied that the type does not exist, so that it has no objects
     */
    record Discovery(Optional<ResourceKind> kind, Optional<Trouble> trouble, boolean absent) {

        /** The label of ClusterRoles with which users grant rights on their own kinds. */
        static final String RIGHTS_LABEL = "gpuwarden.dev/aggregate-to-monitor";

        /** Asks the API server once or twice; blocks. */
        static Discovery find(KubeClient api, ResourceType type) throws InterruptedException {
            Map<String, Object> list;
            try {
                list = api.get(type.discoveryPath());
            } catch (ApiException e) {
                return e.notFound()
                        ? absent("the API server has no " + type.apiVersion())
                        : unfollowed("Unreachable", "the API server does not list its types: " + e.getMessage());
            }
            List<Map<String, Object>> resources = JsonTrees.objects(list, "resources").stream()
                    .filter(each -> !JsonTrees.text(each, "name").contains("/"))
                    .toList();
            for (Map<String, Object> each : resources) {
                if (JsonTrees.text(each, "kind").equals(type.kind())) {
                    return may(api, type, each);
                }
            }
            List<String> kinds =
                    resources.stream().map(each -> JsonTrees.text(each, "kind")).toList();
            return absent(type.apiVersion() + " has no kind " + type.kind()
                    + Spelling.nearest(type.kind(), kinds)
                            .map(meant -> ", did you mean " + meant + "?")
                            .orElse(""));
        }

        private static Discovery may(KubeClient api, ResourceType type, Map<String, Object> resource)
                throws InterruptedException {
            String plural = JsonTrees.text(resource, "name");
            List<String> verbs = JsonTrees.textList(resource, "verbs");
            if (!verbs.contains("list") || !verbs.contains("watch")) {
                return unfollowed("NotWatchable", "the API server does not support list and watch of each " + type);
            }
            ResourceKind kind = ResourceKind.ofCluster(type.group(), type.version(), plural, type.kind());
            try {
                var unused = api.get(kind.path() + "?limit=1");
                return new Discovery(Optional.of(kind), Optional.empty(), false);
            } catch (ApiException e) {
                if (e.forbidden()) {
                    return unfollowed(
                            "Forbidden",
                            "the aggregator may not list " + plural + ": make a ClusterRole with the label "
                                    + RIGHTS_LABEL
                                    + ": \"true\" and the rule {apiGroups: [\"" + type.group() + "\"], resources: ["
                                    + plural + "], verbs: [list, watch]}");
                }
                return e.notFound()
                        ? absent("the API server has no " + plural + " any more")
                        : unfollowed("Unreachable", "the API server does not list " + plural + ": " + e.getMessage());
            }
        }

        private static Discovery absent(String why) {
            return new Discovery(
                    Optional.empty(),
                    Optional.of(new Trouble("ResourceNotFound", why + "; it is checked again regularly")),
                    true);
        }

        private static Discovery unfollowed(String reason, String why) {
            return new Discovery(Optional.empty(), Optional.of(new Trouble(reason, why)), false);
        }
    }
}
