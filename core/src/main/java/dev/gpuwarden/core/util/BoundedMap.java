package dev.gpuwarden.core.util;

import java.util.LinkedHashMap;
import java.util.Map;

/** A map that drops an entry when it would have more than its limit. Not thread-safe. */
public final class BoundedMap<K, V> extends LinkedHashMap<K, V> {

    private static final long serialVersionUID = 1L;

    private final int most;

    /** @param byUse true to drop the least recently used entry, false to drop the oldest */
    public BoundedMap(int most, boolean byUse) {
        super(16, 0.75f, byUse);
        this.most = most;
    }

    @Override
    protected boolean removeEldestEntry(Map.Entry<K, V> eldest) {
        return size() > most;
    }
}
