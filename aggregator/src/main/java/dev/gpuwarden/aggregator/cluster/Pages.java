package dev.gpuwarden.aggregator.cluster;

import dev.gpuwarden.aggregator.json.Trees;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.function.Consumer;

/** Lists in pages: 10,000 nodes at once are 100 MB of JSON. */
public final class Pages {

    private static final int PAGE = 500;

    private Pages() {}

    /**
     * Hands over each object of a list. Blocks; each page is one request.
     *
     * @param path without a query
     * @param query as `fieldSelector=reason=DryRun`, its values encoded; empty for all
     * @throws ClusterException in the middle too, after some have been handed over
     */
    public static void each(ClusterApi api, String path, String query, Consumer<Map<String, Object>> consumer)
            throws ClusterException, InterruptedException {
        String from = "";
        do {
            Map<String, Object> page = api.get(path + "?limit=" + PAGE + (query.isEmpty() ? "" : "&" + query)
                    + (from.isEmpty() ? "" : "&continue=" + encoded(from)));
            if (!Trees.text(page, "kind").endsWith("List")) {
                throw ClusterException.noAnswer("GET " + path + ": expected a list, found something else");
            }
            Trees.objects(page, "items").forEach(consumer);
            from = Trees.text(Trees.object(page, "metadata"), "continue");
        } while (!from.isEmpty());
    }

    public static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }
}
