package dev.gpuwarden.testkit.scenario;

import dev.gpuwarden.testkit.scenario.Keys.Key;
import java.util.List;

/**
 * A key with its value.
 *
 * @param element index of the link or partition; {@link #EVERY} for all of them, and for keys without elements
 */
public record Setting(Key key, int element, Value value) {
    public static final int EVERY = -1;

    /** Returns `KEY=VALUE`. */
    String text() {
        String name = element == EVERY ? key.name() : key.name().replaceFirst("\\.", "." + element + ".");
        return name + "=" + written();
    }

    private String written() {
        if (value instanceof Value.Text text) {
            return text.text();
        }
        if (value instanceof Value.Numbers numbers) {
            return key.form().write(numbers.numbers());
        }
        return value instanceof Value.Added added ? "+" + key.form().write(List.of(added.number())) : "absent";
    }
}
