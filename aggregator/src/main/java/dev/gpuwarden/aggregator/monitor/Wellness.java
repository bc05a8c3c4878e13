package dev.gpuwarden.aggregator.monitor;

import dev.gpuwarden.aggregator.json.Trees;
import java.util.List;
import java.util.Map;

/** Whether an object that was wrong has recovered, when its predicate is no longer true. Pure. */
final class Wellness {

    private Wellness() {}

    /**
     * A pod in a crash loop runs for a moment again and again: it is well when all of its containers are ready, or it has done its
     * work. Everything else is well when nothing says otherwise.
     */
    static boolean recovered(ResourceType type, Map<String, Object> object) {
        if (!type.isPod()) {
            return true;
        }
        Map<String, Object> status = Trees.object(object, "status");
        if (Trees.text(status, "phase").equals("Succeeded")) {
            return true;
        }
        List<Map<String, Object>> told = Trees.objects(status, "containerStatuses");
        int wanted = Trees.objects(Trees.object(object, "spec"), "containers").size();
        return !told.isEmpty()
                && told.size() >= wanted
                && told.stream().allMatch(container -> Trees.isTrue(container, "ready"));
    }
}
