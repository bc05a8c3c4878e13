package dev.gpuwarden.aggregator.objectmonitor;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Objects as expressions want them: whole numbers are longs, others doubles, and what is null is not there. */
public final class PlainTree {

    private PlainTree() {}

    public static Map<String, Object> of(Map<?, ?> object) {
        Map<String, Object> plain = new LinkedHashMap<>();
        object.forEach((key, value) -> {
            Object item = value(value);
            if (item != null) {
                plain.put(String.valueOf(key), item);
            }
        });
        return plain;
    }

    private static @Nullable Object value(@Nullable Object value) {
        if (value instanceof Map<?, ?> map) {
            return of(map);
        }
        if (value instanceof List<?> list) {
            List<Object> plain = new ArrayList<>(list.size());
            for (Object each : list) {
                Object item = value(each);
                if (item != null) {
                    plain.add(item);
                }
            }
            return plain;
        }
        if (value instanceof Integer || value instanceof Short || value instanceof Byte) {
            return ((Number) value).longValue();
        }
        return value instanceof Number number && !(value instanceof Long) ? (Object) number.doubleValue() : value;
    }
}
