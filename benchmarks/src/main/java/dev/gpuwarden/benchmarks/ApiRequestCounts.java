package dev.gpuwarden.benchmarks;

import dev.gpuwarden.testkit.cluster.ControlPlane;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The requests that an API server has answered, by verb and resource, from its own metrics. Watches do not count. */
record ApiRequestCounts(Map<String, Long> counts) {

    private static final Pattern LABEL = Pattern.compile("(resource|subresource|verb)=\"([^\"]*)\"");

    static ApiRequestCounts of(ControlPlane plane) {
        Map<String, Long> counts = new TreeMap<>();
        plane.kubectl("get", "--raw", "/metrics")
                .lines()
                .filter(line -> line.startsWith("apiserver_request_total{"))
                .forEach(line -> {
                    Map<String, String> labels = new TreeMap<>();
                    Matcher matcher = LABEL.matcher(line);
                    while (matcher.find()) {
                        labels.put(matcher.group(1), matcher.group(2));
                    }
                    String sub = labels.getOrDefault("subresource", "");
                    String name = labels.getOrDefault("verb", "")
                            + " "
                            + labels.getOrDefault("resource", "")
                            + (sub.isEmpty() ? "" : "/" + sub);
                    long count = (long) Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1));
                    counts.merge(name, count, Long::sum);
                });
        counts.keySet().removeIf(name -> name.startsWith("WATCH ") || name.contains("subjectaccessreviews"));
        return new ApiRequestCounts(counts);
    }

    /** Returns the requests since then. */
    ApiRequestCounts since(ApiRequestCounts before) {
        Map<String, Long> more = new TreeMap<>();
        counts.forEach((name, count) -> more.put(name, count - before.counts.getOrDefault(name, 0L)));
        more.values().removeIf(count -> count == 0);
        return new ApiRequestCounts(more);
    }

    private static boolean reads(String name) {
        return name.startsWith("GET ") || name.startsWith("LIST ");
    }

    /** Returns the number of requests that change nothing. */
    long reads() {
        return counts.entrySet().stream()
                .filter(each -> reads(each.getKey()))
                .mapToLong(Map.Entry::getValue)
                .sum();
    }

    long writes() {
        return counts.values().stream().mapToLong(Long::longValue).sum() - reads();
    }
}
