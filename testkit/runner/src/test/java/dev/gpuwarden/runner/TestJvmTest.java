package dev.gpuwarden.runner;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gpuwarden.runner.compile.Workspace;
import dev.gpuwarden.runner.jvm.Line;
import dev.gpuwarden.runner.jvm.Selection;
import dev.gpuwarden.runner.jvm.Tier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Starts real test JVMs on {@link Sample}, and checks what they report. */
@Tag("programs")
class TestJvmTest {

    @TempDir
    Path folder;

    /** Is run by the other class alone. */
    static class Sample {

        private static boolean inSample() {
            return System.getProperty("gpuwarden.repository", "").contains("sample-tree");
        }

        @Test
        void passes() {
            assumeTrue(inSample(), "only as a sample");
        }

        @Test
        void fails() {
            assumeTrue(inSample(), "only as a sample");
            assertThat(1).as("one").isEqualTo(2);
        }

        @Test
        void ends() {
            if (inSample()) {
                Runtime.getRuntime().halt(0);
            }
        }
    }

    private Outcome run(String test) throws Exception {
        return run(List.of(Sample.class.getName() + "#" + test));
    }

    private Outcome run(List<String> tests) throws Exception {
        Path tree = Files.createDirectories(folder.resolve("sample-tree"));
        Files.writeString(tree.resolve("pom.xml"), "<module>one</module>");
        Path target = Files.createDirectories(tree.resolve("one/target"));
        Files.writeString(target.resolve("test.classpath"), System.getProperty("java.class.path"));
        Workspace workspace = new Workspace(tree, folder);
        return new TestJvm(workspace, Optional.empty())
                .tests(new Job(Tier.PROGRAMS, "one", "", List.of()), new Selection(Set.of(), tests));
    }

    @Test
    void aTestThatPassesAndOneThatFails() throws Exception {
        assertThat(run("passes").count(Line.Kind.PASSED)).isEqualTo(1);
        Outcome failed = run("fails");
        assertThat(failed.count(Line.Kind.PASSED)).isZero();
        assertThat(failed.all(Line.Kind.FAILED)).singleElement().satisfies(line -> {
            assertThat(line.subject()).isEqualTo(Sample.class.getName());
            assertThat(line.name()).isEqualTo("fails");
            assertThat(line.detail()).contains("[one]").contains("TestJvmTest");
        });
    }

    @Test
    void manySelectedClassesHaveOneShortFileName() throws Exception {
        Outcome outcome = run(Collections.nCopies(20, Sample.class.getName() + "#passes"));
        assertThat(outcome.count(Line.Kind.PASSED)).isEqualTo(1);
        assertThat(outcome.log().getFileName())
                .hasToString("programs-one-" + Sample.class.getName() + "#passes-and-19-more.log");
    }

    @Test
    void aJvmThatEndsBeforeItsTestsIsAFailure() throws Exception {
        assertThat(run("ends").all(Line.Kind.FAILED))
                .singleElement()
                .extracting(Line::detail)
                .asString()
                .contains("ended before its tests did");
    }

    @ParameterizedTest
    @CsvSource({"0, PASSED", "1, FAILED", "3, SKIPPED"})
    void commandPassesFailsOrIsSkipped(int code, Line.Kind kind) throws Exception {
        Path tree = Files.createDirectories(folder.resolve("tree"));
        Files.writeString(tree.resolve("pom.xml"), "");
        Path script = Files.writeString(tree.resolve("look"), "#!/bin/sh\necho no nodes here\nexit " + code + "\n");
        assertThat(script.toFile().setExecutable(true)).isTrue();
        Outcome outcome = new TestJvm(new Workspace(tree, folder), Optional.empty())
                .command(new Job(Tier.NODES, "", "", List.of("look")));
        assertThat(outcome.lines()).singleElement().satisfies(line -> {
            assertThat(line.kind()).isEqualTo(kind);
            assertThat(line.detail().contains("no nodes here")).isEqualTo(code != 0);
        });
    }
}
