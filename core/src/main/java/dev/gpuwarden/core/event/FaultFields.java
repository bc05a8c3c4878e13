package dev.gpuwarden.core.event;

import dev.gpuwarden.core.util.Text;
import java.util.LinkedHashMap;
import java.util.Map;

/** The fields of a fault for programs of the user, with a bound on each: the event may be that of any program of the node. */
public final class FaultFields {

    private static final int LONGEST_MESSAGE = 1024;
    private static final int LONGEST_TEXT = 128;
    private static final int MOST_ITEMS = 16;

    private FaultFields() {}

    public static Map<String, Object> of(HealthEvent cause) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("action", cut(ActionName.of(cause)));
        tree.put("agent", cut(cause.agent()));
        tree.put("componentClass", cut(cause.componentClass()));
        tree.put("checkName", cut(cause.checkName()));
        tree.put(
                "errorCodes",
                cause.errorCodes().stream()
                        .limit(MOST_ITEMS)
                        .map(FaultFields::cut)
                        .toList());
        tree.put("message", Text.truncate(cause.message(), LONGEST_MESSAGE));
        tree.put(
                "entities",
                cause.entities().stream()
                        .limit(MOST_ITEMS)
                        .map(entity -> Map.of("type", cut(entity.type()), "value", cut(entity.value())))
                        .toList());
        return tree;
    }

    private static String cut(String text) {
        return Text.truncate(text, LONGEST_TEXT);
    }
}
