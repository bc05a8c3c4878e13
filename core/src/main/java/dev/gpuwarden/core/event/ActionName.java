package dev.gpuwarden.core.event;

import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/** Names of the actions that faults recommend, in settings: those of {@link RecommendedAction}, or {@code CUSTOM:NAME}. */
public final class ActionName {

    private static final String CUSTOM = "CUSTOM:";
    private static final Pattern CUSTOM_NAME = Pattern.compile(CUSTOM + "[!-~]{1,64}");

    private static final List<String> KNOWN = Arrays.stream(RecommendedAction.values())
            .filter(each ->
                    !Set.of(RecommendedAction.NONE, RecommendedAction.CUSTOM).contains(each))
            .map(Enum::name)
            .toList();

    private ActionName() {}

    /** Returns the name of the action that an event recommends, which may be none of a setting. */
    public static String of(HealthEvent event) {
        return event.action() == RecommendedAction.CUSTOM
                ? CUSTOM + event.customAction()
                : event.action().name();
    }

    public static boolean isKnown(String name) {
        return KNOWN.contains(name) || CUSTOM_NAME.matcher(name).matches();
    }

    /** Returns the names that a setting can have, for errors. */
    public static String expected() {
        return "one of " + String.join(", ", KNOWN) + " or " + CUSTOM + "NAME";
    }
}
