package dev.gpuwarden.aggregator.nodehealth;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** A tree in which about one value is replaced by another one. */
final class Scrambled {

    private final Random random;

    Scrambled(Random random) {
        this.random = random;
    }

    Object of(Object tree) {
        if (random.nextInt(40) == 0) {
            return other();
        }
        if (tree instanceof Map<?, ?> map) {
            Map<Object, Object> copy = new LinkedHashMap<>();
            map.forEach((key, value) -> {
                if (random.nextInt(60) > 0) {
                    copy.put(key, of(value));
                }
            });
            return copy;
        }
        return tree instanceof List<?> list ? list.stream().map(this::of).toList() : tree;
    }

    private Object other() {
        Map<Object, Object> odd = new HashMap<>();
        odd.put(1, null);
        odd.put("name", 1.5);
        List<Object> holes = new ArrayList<>();
        holes.add(null);
        Object[] others = {"", "x".repeat(200), -1, 1L << 40, 2.5, true, odd, holes, "2026-99-99T00:00:00Z"};
        return others[random.nextInt(others.length)];
    }
}
