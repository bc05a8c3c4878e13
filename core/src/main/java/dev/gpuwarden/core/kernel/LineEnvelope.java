package dev.gpuwarden.core.kernel;

import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.ToIntFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The text that tools and container engines put before a line of a log: the names of grep, the times of a container's log. Only for a log that a
 * user names: in a log that is followed, any program can begin a line so.
 */
public final class LineEnvelope {

    /** The longest envelope, in characters: a path has at most 255 in each part. */
    private static final int LONGEST = 512;

    private static final Set<String> LOGS = Set.of("messages", "syslog", "dmesg", "kmsg", "(standard input)");

    /**
     * A form of envelopes.
     *
     * @param end returns the end of the envelope at the beginning of a line; 0 where there is none
     */
    record Form(String name, ToIntFunction<String> end) {

        static Form of(String name, String expression) {
            Pattern pattern = Pattern.compile(expression);
            return new Form(name, line -> {
                Matcher matcher = pattern.matcher(line).region(0, Math.min(line.length(), LONGEST));
                return matcher.lookingAt() ? matcher.end() : 0;
            });
        }
    }

    /** The forms. A test has a line of each. */
    static final List<Form> FORMS = List.of(
            new Form("file of grep", LineEnvelope::file),
            // Not the year of a date.
            Form.of(
                    "line number of grep, cat -n or nl",
                    "(?!\\d{4}-\\d\\d-\\d\\d) {0,8}\\d{1,9}(?:[:-](?=\\S)|[:-]? +)"),
            Form.of(
                    "container log (CRI)",
                    "\\d{4}-\\d\\d-\\d\\dT[\\d:.]{8,30}(?:Z|[+-]\\d\\d:\\d\\d) (?:stdout|stderr) [FP] "),
            Form.of("kubectl logs --prefix", "\\[pod/[^\\]\\s]{1,300}\\] "),
            Form.of("docker compose logs", "[\\w.-]{1,100} {0,60}\\| "),
            Form.of("klog", "[IWEF]\\d{4} \\d\\d:\\d\\d:\\d\\d\\.\\d{1,9} +\\d{1,10} [\\w./-]{1,100}:\\d{1,6}\\] "),
            Form.of("Talos", "(?:[\\w.:-]{1,80}: )?kern: {1,10}[a-z]{3,10}: \\[[\\dTZ:.+-]{10,40}\\]: "),
            Form.of(
                    "ESXi",
                    "(?:<\\d{1,3}>)?[\\dTZ:.+-]{10,40} (?:\\S{1,80} ){0,3}?(?:vmk\\w{4,10}(?:\\[\\d{1,10}\\])?: )?"
                            + "cpu\\d{1,4}:\\d{1,12}(?: opID=\\S{1,80})?\\)(?:(?:WARNING|ALERT): )?"));

    private LineEnvelope() {}

    /** Returns the line without one envelope; empty where it has none. */
    public static Optional<String> open(String line) {
        for (Form form : FORMS) {
            int end = form.end().applyAsInt(line);
            if (end > 0) {
                return Optional.of(line.substring(end));
            }
        }
        return Optional.empty();
    }

    /** Returns the end of {@code kern.log:}, {@code /var/log/kern.log:1234:}, {@code C:\kern.log-1234-}; 0 for other text. */
    private static int file(String line) {
        int from = line.startsWith(":\\", 1) ? 2 : 0;
        int end = Math.min(line.length(), LONGEST);
        int i = from;
        while (i < end && line.charAt(i) != ':' && !dashed(line, i)) {
            i++;
        }
        String name = line.substring(0, i);
        boolean named = LOGS.contains(name) || name.indexOf(' ') < 0 && name.matches(".*[./\\\\].*");
        if (i + 1 >= end || !named || line.charAt(i + 1) == ' ') {
            return 0;
        }
        int number = new Cursor(line, i + 1).skipNumber();
        boolean lineNumber = number > i + 1 && number + 1 < end && line.charAt(number) == line.charAt(i);
        return lineNumber ? number + 1 : line.charAt(i) == ':' ? i + 1 : 0;
    }

    /** Returns whether {@code -1234-} is here, which grep prints for the lines around a match. */
    private static boolean dashed(String line, int i) {
        if (line.charAt(i) != '-') {
            return false;
        }
        int number = new Cursor(line, i + 1).skipNumber();
        // A rotated log has a date in its name, which two numbers would follow.
        return number > i + 1 && number < line.length() && line.charAt(number) == '-';
    }
}
