package dev.gpuwarden.runner;

import dev.gpuwarden.runner.Arguments.UsageError;
import dev.gpuwarden.runner.compile.Edits;
import dev.gpuwarden.runner.compile.TestModule;
import dev.gpuwarden.runner.compile.Workspace;
import dev.gpuwarden.runner.jvm.Line;
import dev.gpuwarden.runner.jvm.Selection;
import dev.gpuwarden.runner.jvm.Tier;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The inner loop of development: compiles edited files, then runs the tests of one module or class, or one test. */
record InnerLoop(Workspace workspace, Console console) {

    /** Finds a module. @throws UsageError for an unknown name */
    TestModule module(String name) {
        return workspace
                .module(name)
                .orElseThrow(() -> new UsageError("no module " + name + "; nearest: "
                        + String.join(
                                ", ",
                                Names.nearest(
                                        name,
                                        workspace.modules().stream()
                                                .map(TestModule::name)
                                                .toList()))));
    }

    /** Blocks until the tests have ended; returns true when none failed. */
    boolean run(Arguments arguments) throws IOException, InterruptedException {
        TestModule module = module(arguments.module().orElseThrow());
        List<String> names = arguments
                .test()
                .map(test -> new TestClasses(module).named(test, workspace.modules()))
                .orElse(List.of());
        Set<Tier> tiers = arguments.tiers().isEmpty() && names.isEmpty() ? Set.of(Tier.UNIT) : arguments.tiers();
        long start = System.nanoTime();
        List<String> compiled = new Edits(workspace).compile(module);
        compiled.forEach(console::line);
        Tier tier = tiers.size() == 1 ? tiers.iterator().next() : Tier.PROGRAMS;
        Outcome outcome = new TestJvm(workspace, Optional.empty())
                .tests(new Job(tier, module.name(), "", List.of()), new Selection(tiers, names));
        console.ended(module.name() + arguments.test().map(test -> " " + test).orElse(""), outcome);
        Summary summary = new Summary(List.of(outcome));
        summary.skipped().forEach(console::line);
        console.line(String.format(
                Locale.ROOT, "from edit to result %.1f s; log %s", (System.nanoTime() - start) / 1e9, outcome.log()));
        if (summary.count(Line.Kind.PASSED) + summary.count(Line.Kind.FAILED) + summary.count(Line.Kind.SKIPPED) == 0) {
            throw new UsageError("no test of " + module.name() + " is of tier "
                    + tiers.stream().map(Tier::tag).toList());
        }
        console.line(summary.total());
        return summary.count(Line.Kind.FAILED) == 0;
    }

    /** The test classes of a module by name, read from its sources. */
    static final class TestClasses {

        private static final Pattern METHOD = Pattern.compile(
                "@(?:Test|ParameterizedTest|RepeatedTest|TestFactory|TestTemplate)\\b[\\s\\S]*?void (\\w+)\\(");

        private final TestModule module;
        private final Path root;

        TestClasses(TestModule module) {
            this.module = module;
            this.root = module.folder().resolve("src/test/java");
        }

        /**
         * Returns the user's selection in the form of {@link dev.gpuwarden.runner.jvm.Selection}.
         *
         * @param test as in `PageTest`, `Page*` or `PageTest#method`
         * @param others where the class may be instead
         * @throws UsageError when there is no such class or method, with the nearest
         */
        List<String> named(String test, List<TestModule> others) {
            int hash = test.indexOf('#');
            String wanted = hash < 0 ? test : test.substring(0, hash);
            List<Path> files = sources().stream()
                    .filter(file -> simpleName(file).matches(glob(wanted))
                            || className(file).matches(glob(wanted)))
                    .toList();
            if (files.isEmpty()) {
                throw new UsageError(noClass(wanted, others));
            }
            if (hash < 0) {
                return files.stream().map(this::className).toList();
            }
            String method = test.substring(hash + 1);
            return List.of(className(files.get(0)) + "#" + existing(files.get(0), method));
        }

        private static String existing(Path file, String method) {
            List<String> methods = methods(file);
            if (!methods.contains(method)) {
                throw new UsageError("no test " + method + " in " + simpleName(file) + "; nearest: "
                        + String.join(", ", Names.nearest(method, methods)));
            }
            return method;
        }

        private String noClass(String wanted, List<TestModule> others) {
            for (TestModule other : others) {
                if (new TestClasses(other).simpleNames().contains(wanted)) {
                    return "no class " + wanted + " in " + module.name() + ": it is in " + other.name()
                            + ": ./gpuwarden test " + other.name() + " " + wanted;
                }
            }
            return "no test class " + wanted + " in " + module.name() + "; nearest: "
                    + String.join(", ", Names.nearest(wanted, simpleNames()));
        }

        private List<String> simpleNames() {
            return sources().stream().map(TestClasses::simpleName).toList();
        }

        private List<Path> sources() {
            if (!Files.isDirectory(root)) {
                return List.of();
            }
            try (Stream<Path> files = Files.walk(root)) {
                return files.filter(file -> file.toString().endsWith("Test.java"))
                        .sorted()
                        .toList();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        private static String simpleName(Path file) {
            String name = String.valueOf(file.getFileName());
            return name.substring(0, name.length() - ".java".length());
        }

        private String className(Path file) {
            String path = root.relativize(file).toString();
            return path.substring(0, path.length() - ".java".length()).replace('/', '.');
        }

        private static String glob(String text) {
            return Stream.of(text.split("\\*", -1))
                    .map(Pattern::quote)
                    .reduce((a, b) -> a + ".*" + b)
                    .orElse("");
        }

        private static List<String> methods(Path file) {
            try {
                Matcher method = METHOD.matcher(Files.readString(file));
                return method.results().map(found -> found.group(1)).toList();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    /** Finds the nearest names to an unknown one. Pure. */
    static final class Names {

        private static final int SHOWN = 5;

        private Names() {}

        /** Returns at most five names, the nearest first. */
        static List<String> nearest(String wrong, Collection<String> names) {
            String key = wrong.toLowerCase(Locale.ROOT);
            return names.stream()
                    .distinct()
                    .sorted(Comparator.comparingInt((String name) -> distance(key, name.toLowerCase(Locale.ROOT)))
                            .thenComparing(Comparator.naturalOrder()))
                    .limit(SHOWN)
                    .toList();
        }

        /** Returns the number of edits from one to the other; 0 where the wrong name is a part of it. */
        static int distance(String wrong, String name) {
            int[] row = new int[name.length() + 1];
            for (int j = 0; j <= name.length(); j++) {
                row[j] = j;
            }
            for (int i = 1; i <= wrong.length(); i++) {
                int diagonal = row[0];
                row[0] = i;
                for (int j = 1; j <= name.length(); j++) {
                    int above = row[j];
                    int change = diagonal + (wrong.charAt(i - 1) == name.charAt(j - 1) ? 0 : 1);
                    row[j] = Math.min(change, Math.min(above, row[j - 1]) + 1);
                    diagonal = above;
                }
            }
            return name.contains(wrong) ? 0 : row[name.length()];
        }
    }
}
