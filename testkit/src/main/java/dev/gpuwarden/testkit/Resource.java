package dev.gpuwarden.testkit;

import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Objects;

/** Reads the resources of this module. */
public final class Resource {

    private Resource() {}

    /** @param file path below this package, for example `scenarios/demo.yaml` */
    public static String text(String file) {
        return Unchecked.get(() -> {
            try (InputStream in = Objects.requireNonNull(Resource.class.getResourceAsStream(file), file)) {
                return new String(in.readAllBytes(), StandardCharsets.UTF_8);
            }
        });
    }
}
