package dev.gpuwarden.testkit.scenario;

import dev.gpuwarden.testkit.Resource;
import java.util.List;
import java.util.Optional;

/** The built-in boards. */
public final class Boards {

    private static final List<String> NAMES =
            List.of("t4", "l4", "a100-sxm4-80gb", "h100-sxm5-80gb", "h200-sxm-141gb", "b200-sxm");

    private Boards() {}

    public static List<String> names() {
        return NAMES;
    }

    /** Returns the board of this name, or empty when there is none. */
    public static Optional<Board> find(String name) {
        if (!NAMES.contains(name)) {
            return Optional.empty();
        }
        String file = "profiles/" + name + ".yaml";
        return YamlNode.parse(file, name, Resource.text(file)).map(profile -> Board.read(name, profile));
    }
}
