package dev.gpuwarden.runner;

import dev.gpuwarden.runner.jvm.Line;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The result of a job.
 *
 * @param lines of its tests, as they ended
 * @param millis how long the job took
 * @param log what it printed
 */
public record Outcome(Job job, List<Line> lines, long millis, Path log) {

    /** Returns the number of tests with this result. */
    public int count(Line.Kind kind) {
        return (int) lines.stream().filter(line -> line.kind() == kind).count();
    }

    /** Returns the lines of one kind. */
    public List<Line> all(Line.Kind kind) {
        return lines.stream().filter(line -> line.kind() == kind).toList();
    }

    /** Returns a copy with one more failure, which no test reports. */
    Outcome failedToo(String subject, String why) {
        List<Line> more = new ArrayList<>(lines);
        more.add(new Line(Line.Kind.FAILED, subject, "", 0, why));
        return new Outcome(job, more, millis, log);
    }
}
