package dev.gpuwarden.testkit.scenario;

/**
 * A key with its value.
 *
 * @param element which link or partition; {@link #EVERY} for all of them, and for keys without elements
 */
public record Setting(Key key, int element, Value value) {
    public static final int EVERY = -1;

    /** `KEY=VALUE`. */
    String text() {
        String name = element == EVERY ? key.name() : key.name().replaceFirst("\\.", "." + element + ".");
        String written = value instanceof Value.Text text
                ? text.text()
                : value instanceof Value.Numbers numbers ? key.form().write(numbers.numbers()) : "absent";
        return name + "=" + written;
    }
}
