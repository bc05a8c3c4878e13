package dev.gpuwarden.testkit.scenario;

import dev.gpuwarden.cli.Durations;
import java.time.Duration;
import java.util.List;

/**
 * Calls that go wrong.
 *
 * @param functions names as the library exports them; empty for every function
 * @param gpu {@link #EVERY_GPU} also meets calls that are about no GPU, such as nvmlInit_v2
 * @param code of {@link Mode#ERROR}
 * @param delay of {@link Mode#DELAY}
 * @param lie of {@link Mode#LIE}: the name of a constant of the table without "LIE_"
 */
public record Fault(String name, Mode mode, List<String> functions, int gpu, int code, Duration delay, String lie) {

    public static final int EVERY_GPU = -1;

    /** What happens to a call. */
    public enum Mode {
        /** It answers a code. */
        ERROR,
        /** It does not come back until the fault is cleared. */
        HANG,
        /** It comes back late. */
        DELAY,
        /** It succeeds with an answer that cannot be true. */
        LIE
    }

    /** What happens, in words. */
    public String effect() {
        return switch (mode) {
            case ERROR -> "error " + ReturnCodes.name(code);
            case HANG -> "hang";
            case DELAY -> "delay " + Durations.text(delay);
            case LIE -> "lie " + lie;
        };
    }
}
