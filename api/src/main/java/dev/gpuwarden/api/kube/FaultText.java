package dev.gpuwarden.api.kube;

import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.FaultKey;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.util.Text;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Texts of faults and events in the form in which NVSentinel writes them into conditions and Events; other tools split
 * them at `;`. Bounded.
 */
public final class FaultText {

    /**
     * Limit on a text. It is enough to recognise a fault. It is far below the 32 KiB of other programs, since every
     * watcher of the node receives each change.
     */
    static final int LONGEST = 2048;

    private static final int LONGEST_MESSAGE = 512;
    private static final int LONGEST_NAME = 128;
    private static final int MOST_NAMES = 16;

    /** Order by the event's number; an event that is not on disk yet has none, and is the newest. */
    static final Comparator<Fault> OLDEST_FIRST =
            Comparator.comparingLong(fault -> fault.sequence() == 0 ? Long.MAX_VALUE : fault.sequence());

    private FaultText() {}

    /**
     * Returns one item for each event that raised faults, with its current ones, the oldest first. The text does not
     * depend on the order of the faults, which a restart changes.
     *
     * @param named whether the items must name their check, since the condition does not
     */
    public static String of(Collection<Fault> faults, boolean named) {
        Map<HealthEvent, List<FaultKey>> current = new LinkedHashMap<>();
        faults.stream()
                .sorted(OLDEST_FIRST)
                .forEach(fault -> current.computeIfAbsent(fault.cause(), any -> new ArrayList<>())
                        .add(fault.key()));
        StringBuilder text = new StringBuilder();
        int left = current.size();
        for (Map.Entry<HealthEvent, List<FaultKey>> event : current.entrySet()) {
            String item = item(event.getKey(), event.getValue(), named);
            String more = " " + left + " more, see `gpuwarden status`;";
            if (text.length() + item.length() + more.length() > LONGEST) {
                text.append(more);
                break;
            }
            text.append(text.isEmpty() ? "" : " ").append(item);
            left--;
        }
        return text.toString();
    }

    /** Returns the text of one event. */
    public static String of(HealthEvent event) {
        return item(event, event.keys(), false);
    }

    private static String item(HealthEvent event, List<FaultKey> current, boolean named) {
        StringBuilder text = new StringBuilder();
        if (named) {
            text.append("Check:").append(clean(event.checkName(), LONGEST_NAME)).append(' ');
        }
        Set<String> codes = current.stream().map(FaultKey::errorCode).collect(Collectors.toSet());
        Set<Entity> entities = current.stream().map(FaultKey::entity).collect(Collectors.toSet());
        names(text, event.errorCodes().stream().filter(codes::contains).toList(), code -> "ErrorCode:" + code);
        names(
                text,
                event.entities().stream().filter(entities::contains).toList(),
                entity -> entity.type() + ":" + entity.value());
        if (!event.message().isEmpty()) {
            text.append(clean(event.message(), LONGEST_MESSAGE)).append(' ');
        }
        return text.append("Recommended Action=")
                .append(event.action().name())
                .append(';')
                .toString();
    }

    private static <T> void names(StringBuilder text, List<T> all, Function<T, String> name) {
        all.stream()
                .limit(MOST_NAMES)
                .forEach(each ->
                        text.append(clean(name.apply(each), LONGEST_NAME)).append(' '));
        if (all.size() > MOST_NAMES) {
            text.append("and ").append(all.size() - MOST_NAMES).append(" more ");
        }
    }

    /** Returns untrusted text without line breaks and `;`, within the limit. */
    private static String clean(String text, int most) {
        return line(text.replace(';', '.'), most);
    }

    /** Returns the text in one line, within the limit. */
    public static String line(String text, int most) {
        return Text.truncate(text.replaceAll("[\\p{Cntrl}\\s]+", " ").strip(), most);
    }
}
