package dev.gpuwarden.checks;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Supplier;

/** The sources that a program has for checks, by the type of what they return. Immutable. */
public final class Sources {

    public static final Sources NONE = new Sources(Map.of());

    private final Map<Class<?>, Source> byType;

    /** @param local whether only the program itself has it, not the child process of a check */
    private record Source(Supplier<? extends Reading<?>> reading, boolean local) {}

    private Sources(Map<Class<?>, Source> byType) {
        this.byType = byType;
    }

    /**
     * Returns these sources with one more, or with another one of this type. The child process of a check must register the type too.
     *
     * @param reading called by each request of a check, so that no library is opened for checks that do not use it
     */
    public <T> Sources with(Class<T> type, Supplier<Reading<T>> reading) {
        return with(type, new Source(reading, false));
    }

    /** Returns the same as {@link #with} for a source that a child process cannot have, so that a check with a load may not use it. */
    public <T> Sources withLocal(Class<T> type, Supplier<Reading<T>> reading) {
        return with(type, new Source(reading, true));
    }

    private Sources with(Class<?> type, Source source) {
        Map<Class<?>, Source> more = new HashMap<>(byType);
        more.put(type, source);
        return new Sources(more);
    }

    boolean isLocal(Class<?> type) {
        return byType.containsKey(type) && byType.get(type).local();
    }

    /** Returns what the source has now; NOT_SUPPORTED where the program has no such source. */
    public <T> Reading<T> get(Class<T> type) {
        Source source = byType.get(type);
        return source == null
                ? Reading.absent(Absence.NOT_SUPPORTED, 0, "this program has no source of " + type.getSimpleName())
                : source.reading().get().map(type::cast);
    }
}
