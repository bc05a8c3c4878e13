package dev.gpuwarden.runner.jvm;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** The text of an exception with the frames that help: those of this project. */
final class Traces {

    private static final int FRAMES = 12;
    private static final int CAUSES = 4;

    private Traces() {}

    static String text(Throwable thrown) {
        StringBuilder text = new StringBuilder();
        int causes = 0;
        for (@Nullable Throwable at = thrown; at != null && causes < CAUSES; at = at.getCause(), causes++) {
            text.append(causes == 0 ? "" : "caused by ").append(at).append('\n');
            Arrays.stream(at.getStackTrace())
                    .filter(frame -> frame.getClassName().startsWith("dev.gpuwarden.")
                            && !frame.getClassName().startsWith("dev.gpuwarden.runner.jvm."))
                    .limit(FRAMES)
                    .forEach(frame -> text.append("    at ").append(frame).append('\n'));
        }
        for (Throwable other : thrown.getSuppressed()) {
            text.append("also ").append(other).append('\n');
        }
        return text.toString().stripTrailing();
    }
}
