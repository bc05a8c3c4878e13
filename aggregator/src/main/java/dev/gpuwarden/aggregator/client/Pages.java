package dev.gpuwarden.aggregator.client;

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
     * @throws ApiException in the middle too, after some have been handed over
     */
    public static void each(KubeClient api, String path, String query, Consumer<Map<String, Object>> consumer)
            throws ApiException, InterruptedException {
        String from = "";
        do {
            Map<String, Object> page = api.get(path + "?limit=" + PAGE + (query.isEmpty() ? "" : "&" + query)
                    + (from.isEmpty() ? "" : "&continue=" + encoded(from)));
            if (!JsonTrees.text(page, "kind").endsWith("List")) {
                throw ApiException.noAnswer("GET " + path + ": expected a list, found something else");
            }
            JsonTrees.objects(page, "items").forEach(consumer);
            from = JsonTrees.text(JsonTrees.object(page, "metadata"), "continue");
        } while (!from.isEmpty());
    }

    public static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }
}
