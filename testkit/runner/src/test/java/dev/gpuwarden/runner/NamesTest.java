package dev.gpuwarden.runner;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.runner.Arguments.UsageError;
import dev.gpuwarden.runner.InnerLoop.Names;
import dev.gpuwarden.runner.InnerLoop.TestClasses;
import dev.gpuwarden.runner.compile.TestModule;
import dev.gpuwarden.runner.compile.Workspace;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class NamesTest {

    private final Workspace workspace =
            new Workspace(Path.of(System.getProperty("gpuwarden.repository")), Path.of("none"));
    private final TestModule runner = workspace.module("runner").orElseThrow();

    @Test
    void theNearestComesFirst() {
        assertThat(Names.nearest("PageTst", List.of("EdgeTest", "PageTest", "StageTest")))
                .first()
                .isEqualTo("PageTest");
        assertThat(Names.nearest("drain", List.of("Train", "DrainClusterTest", "Brain")))
                .first()
                .isEqualTo("DrainClusterTest");
        assertThat(Names.distance("kitten", "sitting")).isEqualTo(3);
    }

    @Test
    void aClassOrATestIsFound() {
        TestClasses classes = new TestClasses(runner);
        assertThat(classes.named("NamesTest", List.of())).containsExactly("dev.gpuwarden.runner.NamesTest");
        assertThat(classes.named("Name*Test#aClassOrATestIsFound", List.of()))
                .containsExactly("dev.gpuwarden.runner.NamesTest#aClassOrATestIsFound");
        assertThat(classes.named("*Test", List.of())).hasSizeGreaterThan(3);
    }

    @Test
    void aWrongNameIsAnErrorWithTheNearest() {
        TestClasses classes = new TestClasses(runner);
        assertThatThrownBy(() -> classes.named("NameTest", List.of()))
                .isInstanceOf(UsageError.class)
                .hasMessageContaining("nearest: NamesTest");
        assertThatThrownBy(() -> classes.named("NamesTest#aClassOrTestIsFound", List.of()))
                .isInstanceOf(UsageError.class)
                .hasMessageContaining("nearest: aClassOrATestIsFound");
    }

    @Test
    void aClassOfAnotherModuleIsNamedWithIt() {
        TestClasses core = new TestClasses(workspace.module("core").orElseThrow());
        assertThatThrownBy(() -> core.named("NamesTest", workspace.modules()))
                .isInstanceOf(UsageError.class)
                .hasMessageContaining("it is in runner");
    }
}
