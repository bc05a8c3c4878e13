package dev.gpuwarden.aggregator.json;

import java.util.LinkedHashMap;
import java.util.Map;

/** Parts of a JSON text that nobody asks for: they are passed over, and become no tree. */
public final class Skip {

    /** All is read. */
    public static final Skip NOTHING = new Skip(false);

    private final boolean all;
    private final Map<String, Skip> fields = new LinkedHashMap<>();

    private Skip(boolean all) {
        this.all = all;
    }

    /** @param paths as {@code items.status.images}; a list has the path of the field that it is, and so has each in it */
    public static Skip of(String... paths) {
        Skip skip = new Skip(false);
        for (String path : paths) {
            Skip at = skip;
            String[] names = path.split("\\.");
            for (int i = 0; i < names.length; i++) {
                boolean last = i == names.length - 1;
                at = at.fields.computeIfAbsent(names[i], name -> new Skip(last));
            }
        }
        return skip;
    }

    boolean all() {
        return all;
    }

    Skip in(String field) {
        Skip in = fields.get(field);
        return in == null ? NOTHING : in;
    }
}
