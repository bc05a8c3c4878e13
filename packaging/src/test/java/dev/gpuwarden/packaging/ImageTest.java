package dev.gpuwarden.packaging;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.packaging.Image.Run;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("image")
class ImageTest {

    private final Image image = Image.built();

    @Test
    void versionNamesTheProgram() {
        Run run = image.run("--version");
        assertThat(run.code()).as(run.err()).isZero();
        assertThat(run.out()).matches("(?s)gpuwarden \\d+\\.\\d+\\.\\d+.*\njava \\d+.*\nos Linux .*");
        assertThat(run.err()).isEmpty();
    }

    @Test
    void everyModuleContributesItsCommandsAndSettingsWithoutContradiction() {
        Run run = image.run("config", "-o", "json");
        assertThat(run.code()).as(run.err()).isZero();
        assertThat(run.err()).isEmpty();
    }

    /** Java prints warnings about options that do not fit together, by default on standard output. */
    @ParameterizedTest
    @ValueSource(strings = {"", "daemon", "aggregator", "fleet", "explain", "breaker", "policy", "config"})
    void helpPrintsNothingElse(String command) {
        Run run = command.isEmpty() ? image.run("--help") : image.run(command, "--help");
        assertThat(run.out()).startsWith("Usage: gpuwarden");
        assertThat(run.err()).isEmpty();
    }

    /** Java 17 leaves classes out whose path has a space when it writes an archive. */
    @Test
    void startsFromItsClassArchiveInEachFolder(@TempDir Path folder) throws Exception {
        Map<String, String> options = Map.of("GPUWARDEN_JAVA_OPTS", "-Xshare:on -Xlog:class+load:stderr");
        Run run = image.copyTo(folder.resolve("a b")).run(List.of(), options, "--version");
        assertThat(run.code()).as(run.out() + run.err()).isZero();
        assertThat(run.err().lines().filter(line -> line.matches(".* dev\\.gpuwarden\\.[\\w.]+ source: .*")))
                .isNotEmpty()
                .allMatch(line -> line.contains("shared objects file"));
    }

    @Test
    void aCopyWithOtherTimesReportsThatItsClassArchiveIsNotInUse(@TempDir Path folder) throws Exception {
        assertThat(image.run("--version").out()).doesNotContain("class archive");

        Image copy = image.copyTo(folder.resolve("a copy"));
        assertThat(copy.run("doctor").out()).containsPattern("class archive +in use");
        Files.setLastModifiedTime(copy.home().resolve("lib/daemon.jsa"), FileTime.fromMillis(0));
        Files.setLastModifiedTime(copy.home().resolve("lib/commands.jsa"), FileTime.fromMillis(0));
        String command = copy.home().resolve("bin/gpuwarden-optimise").toString();
        String report = "not in use, every start takes longer; write it: '" + command + "'";
        assertThat(copy.run("--version").out()).contains("class archive " + report);
        assertThat(copy.run("doctor").out()).contains(report);
        assertThat(copy.run("doctor", "-o", "json").out()).contains("\"class archive\": \"" + report + "\"");

        // Every build has run this command, with the image in use above.
        assertThat(Path.of(command)).isExecutable();
    }

    @Test
    void worksInAnotherFolderForAnotherUser(@TempDir Path folder) throws Exception {
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
        Image moved = image.copyTo(folder.resolve("a b"));
        boolean root = ProcessHandle.current().info().user().orElse("").equals("root");
        List<String> nobody = root ? List.of("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups") : List.of();
        Run run = moved.run(nobody, Map.of("HOME", "/nonexistent"), "--version");
        assertThat(run.code()).as(run.err()).isZero();
        assertThat(run.err()).isEmpty();
        assertThat(run.out()).startsWith("gpuwarden ");
    }

    @Test
    void runsThroughALink(@TempDir Path folder) throws IOException {
        Files.createDirectories(folder.resolve("usr/bin"));
        Files.createDirectories(folder.resolve("usr/lib"));
        Files.createSymbolicLink(folder.resolve("usr/lib/bin"), image.home().resolve("bin"));
        Image linked = new Image(folder.resolve("usr/lib"));
        assertThat(linked.run("--version").out()).startsWith("gpuwarden ");
    }

    @Test
    void wrongUsageIsTwo() {
        Run run = image.run("nothing-of-the-kind");
        assertThat(run.code()).isEqualTo(2);
        assertThat(run.err()).contains("Unmatched argument");
    }

    @Test
    void textBeyondAsciiSurvivesWithoutALocale(@TempDir Path folder) throws IOException {
        Path file = Files.writeString(folder.resolve("c.yaml"), "k\u00e4se: 1\n");
        Run run = image.run("config", "--config", file.toString());
        assertThat(run.code()).isEqualTo(2);
        assertThat(run.err()).contains("unknown key k\u00e4se");
    }
}
