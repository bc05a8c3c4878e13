package dev.gpuwarden.runner.jvm;

import dev.gpuwarden.runner.Line;
import dev.gpuwarden.runner.SuppressForbidden;
import dev.gpuwarden.runner.Tier;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import org.junit.platform.launcher.Launcher;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;
import org.junit.platform.launcher.core.LauncherFactory;

/**
 * Runs tests of one module in this JVM and writes a {@link Line} for each as it ends. Arguments: the file to write, the folder of
 * the module's test classes, then a {@link Selection}. The exit code is 0 however the tests end; the file has what became of them.
 */
public final class TestMain {

    private TestMain() {}

    /** Runs the tests. */
    @SuppressForbidden("threads that a test left behind must not keep this JVM")
    public static void main(String[] arguments) throws IOException {
        try (PrintWriter out =
                new PrintWriter(Files.newBufferedWriter(Path.of(arguments[0]), StandardCharsets.UTF_8), false)) {
            run(out, Path.of(arguments[1]), Selection.parse(arguments));
        }
        System.exit(0);
    }

    private static void run(PrintWriter out, Path testClasses, Selection selection) {
        Launcher launcher = LauncherFactory.create();
        if (selection.names().isEmpty()) {
            tiers(launcher.discover(selection.all(testClasses)))
                    .forEach((tier, count) -> write(out, new Line(Line.Kind.TIER, tier, "", count, "")));
        }
        launcher.execute(selection.request(testClasses), new LineListener(line -> write(out, line)));
        write(out, new Line(Line.Kind.END, "", "", 0, ""));
    }

    private static synchronized void write(PrintWriter out, Line line) {
        out.println(line.text());
        out.flush();
    }

    /** Returns the number of test methods by tier, so that a tier without a lane is detected. */
    private static Map<String, Integer> tiers(TestPlan plan) {
        Map<String, Integer> counts = new TreeMap<>();
        plan.getRoots()
                .forEach(root -> plan.getDescendants(root).stream()
                        .filter(test -> test.getSource().isPresent())
                        .filter(test -> plan.getChildren(test).isEmpty())
                        .forEach(test -> counts.merge(tier(test), 1, Integer::sum)));
        return counts;
    }

    private static String tier(TestIdentifier test) {
        try {
            return Tier.of(test.getTags().stream()
                            .map(tag -> tag.getName())
                            .collect(java.util.stream.Collectors.toSet()))
                    .tag();
        } catch (IllegalArgumentException e) {
            return test.getUniqueId() + ": " + e.getMessage();
        }
    }
}
