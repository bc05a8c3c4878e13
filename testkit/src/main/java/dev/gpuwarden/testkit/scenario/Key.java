package dev.gpuwarden.testkit.scenario;

import java.util.List;

/**
 * Something of a node or a GPU that can be set.
 *
 * @param fields of the simulator's table, `[*]` where an element is chosen; empty for keys that are no state of the driver
 */
public record Key(String name, List<String> fields, Form form, String help) {

    /** The element's list in the table ("link", "mig"), or empty when the key has no elements. */
    public String list() {
        int star = fields.isEmpty() ? -1 : fields.get(0).indexOf("[*]");
        return star < 0 ? "" : fields.get(0).substring(0, star);
    }

    /** Whether its fields hold texts and not numbers. */
    public boolean isText() {
        return form.isText();
    }
}
