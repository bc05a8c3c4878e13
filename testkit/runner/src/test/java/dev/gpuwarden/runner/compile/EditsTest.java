package dev.gpuwarden.runner.compile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.runner.compile.Edits.CompileError;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two modules, of which the upper one uses the lower one's class and constant. */
class EditsTest {

    @TempDir
    Path tree;

    private Workspace workspace;
    private TestModule upper;

    @BeforeEach
    void build() throws IOException {
        Files.writeString(tree.resolve("pom.xml"), "<module>lower</module><module>upper</module>");
        write(
                "lower",
                "main",
                "Low",
                "public class Low { public static final int N = 1; public static int n() { return 1; } }");
        write("lower", "main", "Beside", "class Beside { int m() { return Low.n(); } }");
        write("upper", "main", "Up", "public class Up { public static int up() { return Low.n() + Low.N; } }");
        write("upper", "test", "UpTest", "public class UpTest { static int seen() { return Up.up(); } }");
        Files.createDirectories(tree.resolve("lower/target"));
        Files.writeString(tree.resolve("lower/target/test.classpath"), "");
        Files.createDirectories(tree.resolve("upper/target"));
        Files.writeString(
                tree.resolve("upper/target/test.classpath"),
                tree.resolve("lower/target/lower-1.jar").toString());
        workspace = new Workspace(tree, tree);
        upper = workspace.module("upper").orElseThrow();
        assertThat(compiled()).containsExactly("lower: 2", "upper: 1", "upper tests: 1");
    }

    private void write(String module, String part, String name, String text) throws IOException {
        Path file = tree.resolve(module + "/src/" + part + "/java/" + name + ".java");
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }

    /** An edit an hour after all that is there. */
    private void edit(String module, String part, String name, String text) throws IOException {
        FileTime earlier = FileTime.from(Instant.now().minusSeconds(3600));
        for (Path file : SourceSet.in(tree)) {
            Files.setLastModifiedTime(file, earlier);
        }
        write(module, part, name, text);
    }

    private List<String> compiled() throws IOException {
        return new Edits(workspace)
                .compile(upper).stream()
                        .map(line -> line.replaceAll("compiled (.*) files in .*", "$1"))
                        .toList();
    }

    @Test
    void uneditedFileIsNotCompiled() throws IOException {
        assertThat(compiled()).isEmpty();
    }

    @Test
    void aBodyIsCompiledByItself() throws IOException {
        edit(
                "lower",
                "main",
                "Low",
                "public class Low { public static final int N = 1; public static int n() { return 7; } private int p; }");
        assertThat(compiled()).containsExactly("lower: 1");
    }

    @Test
    void aConstantCompilesAllThatMayHaveItInside() throws IOException {
        edit(
                "lower",
                "main",
                "Low",
                "public class Low { public static final int N = 2; public static int n() { return 1; } }");
        assertThat(compiled()).containsExactly("lower: 2", "upper: 1", "upper tests: 1");
    }

    @Test
    void aMemberThatIsGoneIsSeenByWhoUsesIt() throws IOException {
        edit("lower", "main", "Low", "public class Low { public static final int N = 1; }");
        assertThatThrownBy(this::compiled)
                .isInstanceOf(CompileError.class)
                .hasMessageContaining("Beside.java:1: error");
    }

    @Test
    void failedCompilationIsTriedAgain() throws IOException {
        edit("lower", "main", "Low", "public class Low { public static final int N = 1; }");
        assertThatThrownBy(this::compiled).isInstanceOf(CompileError.class);
        assertThatThrownBy(this::compiled).isInstanceOf(CompileError.class);
    }

    @Test
    void aModuleSeesWhatWasCompiledForAnother() throws IOException {
        edit(
                "lower",
                "main",
                "Low",
                "public class Low { public static final int N = 2; public static int n() { return 1; } }");
        new Edits(workspace).compile(workspace.module("lower").orElseThrow());
        assertThat(compiled()).containsExactly("upper: 1", "upper tests: 1");
        assertThat(compiled()).isEmpty();
    }

    @Test
    void aClassThatIsGoneCompilesAll() throws IOException {
        Files.delete(tree.resolve("lower/src/main/java/Beside.java"));
        assertThat(compiled()).containsExactly("lower: 1", "upper: 1", "upper tests: 1");
        assertThat(tree.resolve("lower/target/classes/Beside.class")).doesNotExist();
    }

    @Test
    void aTestIsCompiledByItself() throws IOException {
        edit("upper", "test", "UpTest", "public class UpTest { static int seen() { return Up.up() + 1; } }");
        assertThat(compiled()).containsExactly("upper tests: 1");
    }

    @Test
    void serviceThatTheBuildLacksIsAnError() throws IOException {
        edit(
                "lower",
                "main",
                "Low",
                "@AutoService(Runnable.class)\npublic class Low { public static final int N = 1; public static int n() { return 1; } }");
        assertThatThrownBy(this::compiled).hasMessageContaining("./gpuwarden build");
    }
}
