package dev.gpuwarden.core.check;

import dev.gpuwarden.core.util.Text;
import java.time.Instant;

/**
 * A check that runs now.
 *
 * @param since start of this run
 * @param progress its last report; {@link Progress#NONE} where the check reports nothing
 */
public record RunningCheck(CheckInfo check, Instant since, Progress progress) {

    /**
     * The place that a run has reached.
     *
     * @param doing its present part in words; may be empty
     * @param done number of parts that have ended
     * @param total number of all parts; 0 where the check does not count them
     */
    public record Progress(String doing, int done, int total) {

        public static final Progress NONE = new Progress("", 0, 0);

        private static final int MOST_TEXT = 200;

        public Progress {
            doing = Text.truncate(doing, MOST_TEXT);
            total = Math.max(total, 0);
            done = Math.max(0, Math.min(done, total));
        }
    }
}
