package dev.gpuwarden.runner.jvm;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.support.descriptor.ClassSource;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.Launcher;
import org.junit.platform.launcher.TestExecutionListener;
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

    /** Writes a {@link Line} for each test and each class that ends. */
    static final class LineListener implements TestExecutionListener {

        private static final int FRAMES = 12;
        private static final int CAUSES = 4;

        private final Consumer<Line> to;
        private final Map<String, Long> started = new ConcurrentHashMap<>();
        private @Nullable TestPlan plan;

        LineListener(Consumer<Line> to) {
            this.to = to;
        }

        @Override
        public void testPlanExecutionStarted(TestPlan running) {
            plan = running;
        }

        @Override
        public void executionStarted(TestIdentifier test) {
            started.put(test.getUniqueId(), System.nanoTime());
        }

        @Override
        public void executionSkipped(TestIdentifier test, String reason) {
            to.accept(new Line(Line.Kind.SKIPPED, className(test), name(test), 0, reason));
        }

        @Override
        public void executionFinished(TestIdentifier test, TestExecutionResult result) {
            Long start = started.remove(test.getUniqueId());
            long millis = start == null ? 0 : TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
            boolean ofClass = test.isContainer()
                    && test.getSource().filter(ClassSource.class::isInstance).isPresent();
            Optional<Throwable> cause = result.getThrowable();
            switch (result.getStatus()) {
                case SUCCESSFUL -> {
                    if (test.isTest()) {
                        to.accept(new Line(Line.Kind.PASSED, className(test), name(test), millis, ""));
                    }
                }
                case ABORTED ->
                    to.accept(new Line(
                            Line.Kind.SKIPPED,
                            className(test),
                            name(test),
                            millis,
                            cause.map(LineListener::reason).orElse("")));
                case FAILED ->
                    to.accept(new Line(
                            Line.Kind.FAILED,
                            className(test),
                            name(test),
                            millis,
                            cause.map(LineListener::trace).orElse("failed without an exception")));
            }
            if (ofClass && !className(test).contains("$")) {
                to.accept(new Line(Line.Kind.CLASS, className(test), "", millis, ""));
            }
        }

        private static String reason(Throwable aborted) {
            String message = String.valueOf(aborted.getMessage());
            return message.startsWith("Assumption failed: ")
                    ? message.substring("Assumption failed: ".length())
                    : message;
        }

        private String className(TestIdentifier test) {
            return test.getSource()
                    .flatMap(source -> source instanceof MethodSource method
                            ? Optional.of(method.getClassName())
                            : source instanceof ClassSource type ? Optional.of(type.getClassName()) : Optional.empty())
                    .or(() -> parent(test).map(this::className))
                    .orElse(test.getDisplayName());
        }

        private Optional<TestIdentifier> parent(TestIdentifier test) {
            TestPlan now = plan;
            return now == null ? Optional.empty() : now.getParent(test);
        }

        /** Returns the method's name, with the invocation of a parameterized test. */
        private static String name(TestIdentifier test) {
            String method = test.getSource()
                    .filter(MethodSource.class::isInstance)
                    .map(source -> ((MethodSource) source).getMethodName())
                    .orElse("");
            String shown = test.getDisplayName();
            if (method.isEmpty()) {
                return test.isTest() ? shown : "";
            }
            return shown.equals(method + "()") ? method : method + " " + shown;
        }

        /** Returns the text of an exception with the frames that help: those of this project. */
        private static String trace(Throwable thrown) {
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
}
