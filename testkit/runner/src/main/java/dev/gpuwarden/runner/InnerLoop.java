package dev.gpuwarden.runner;

import dev.gpuwarden.runner.compile.Edits;
import dev.gpuwarden.runner.jvm.Selection;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.Set;

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
        Outcome outcome =
                new TestJvm(workspace).tests(new Job(tier, module.name(), "", List.of()), new Selection(tiers, names));
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
}
