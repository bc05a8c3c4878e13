package dev.gpuwarden.testkit.scenario;

import java.util.List;

/**
 * A property of a node, a GPU or a network device that a scenario can set.
 *
 * @param fields of the simulator's table, with `[*]` for a chosen element; empty for keys that are no state of the driver
 */
public record Key(String name, List<String> fields, Form form, String help) {

    /** Returns the element's list in the table ("link", "mig"), or an empty text for a key without elements. */
    public String list() {
        int star = fields.isEmpty() ? -1 : fields.get(0).indexOf("[*]");
        return star < 0 ? "" : fields.get(0).substring(0, star);
    }

    /** Returns true when the fields contain texts, false for numbers. */
    public boolean isText() {
        return form.isText();
    }
}
