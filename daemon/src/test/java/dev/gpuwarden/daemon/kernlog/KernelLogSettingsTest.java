package dev.gpuwarden.daemon.kernlog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.cli.Durations;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.daemon.kernlog.KernelLogSettings.Source;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class KernelLogSettingsTest {

    @TempDir
    Path folder;

    private static KernelLogSettings parse(String... args) {
        KernelLogSettings settings = new KernelLogSettings();
        CommandLine.Model.CommandSpec spec = CommandLine.Model.CommandSpec.create();
        spec.addMixin("kernel-log", CommandLine.Model.CommandSpec.forAnnotatedObject(settings));
        new CommandLine(spec)
                .registerConverter(Duration.class, Durations::parse)
                .parseArgs(args);
        return settings;
    }

    private SourceSelector.Choice choose(Source source, Path path, Path journals, String tool) {
        KernelLogSettings settings = MonitoredKernelLog.settings(source, path);
        Boot boot = new Boot(folder, Clock.systemUTC());
        return new SourceSelector(
                        settings, boot, Optional.empty(), List.of(journals), List.of(tool), Path.of("/dev/kmsg"))
                .choose(LogSource.Start.FIRST, true);
    }

    private LogSource source(Source source, Path path) {
        return choose(source, path, folder, "no-such-tool").source().orElseThrow();
    }

    @Test
    void optionDefaultsEqualFieldDefaults() {
        assertThat(parse()).usingRecursiveComparison().isEqualTo(new KernelLogSettings());
        parse().validate();
    }

    @Test
    void optionsAreParsed() {
        KernelLogSettings settings = parse(
                "--kernel-log.source=journald",
                "--kernel-log.path=/x",
                "--kernel-log.storm-window=1m",
                "--kernel-log.quiet=1h");
        assertThat(settings.source()).isEqualTo(Source.JOURNALD);
        assertThat(settings.quiet).isEqualTo(Duration.ofHours(1));
        assertThat(settings.path()).contains(Path.of("/x"));
        assertThatThrownBy(() -> parse("--kernel-log.source=syslog"))
                .hasMessageContaining("expected auto, kmsg, journald, file, driver or none");
    }

    @Test
    void contradictionsAreRefused() {
        assertThatThrownBy(() -> parse("--kernel-log.quiet=2s").validate())
                .isInstanceOf(UserError.class)
                .hasMessageContaining("must not be shorter");
        assertThatThrownBy(() -> parse("--kernel-log.source=file").validate())
                .hasMessageContaining("needs --kernel-log.path");
    }

    @Test
    void typeOfThePathSelectsTheSource() throws Exception {
        Path file = Files.writeString(folder.resolve("kmsg"), "");
        Path pipe = folder.resolve("pipe");
        assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor())
                .isZero();
        assertThat(source(Source.KMSG, file)).isInstanceOf(FileSource.class);
        assertThat(source(Source.FILE, file)).isInstanceOf(FileSource.class);
        assertThat(source(Source.FILE, folder.resolve("not-yet"))).isInstanceOf(FileSource.class);
        assertThat(source(Source.KMSG, pipe)).isInstanceOf(PipeSource.class);
        assertThat(source(Source.AUTO, pipe)).isInstanceOf(PipeSource.class);
        assertThat(source(Source.KMSG, Path.of("/dev/null"))).isInstanceOf(KmsgSource.class);
        assertThat(source(Source.JOURNALD, folder)).isInstanceOf(JournalSource.class);
        assertThat(source(Source.AUTO, folder)).isInstanceOf(JournalSource.class);
        assertThat(choose(Source.NONE, null, folder, "x").source()).isEmpty();
    }

    @Test
    void autoReportsWhyThereIsNoSource() throws Exception {
        Path gone = folder.resolve("gone");
        assertThat(choose(Source.AUTO, gone, folder, "x").why()).isEqualTo(gone + " does not exist");
        // Without a path the device comes first, then the journal; this shows the second step alone.
        KernelLogSettings settings = new KernelLogSettings();
        Boot boot = new Boot(folder, Clock.systemUTC());
        Path noDevice = folder.resolve("kmsg");
        SourceSelector without =
                new SourceSelector(settings, boot, Optional.empty(), List.of(gone), List.of("no-such-tool"), noDevice);
        assertThat(without.choose(LogSource.Start.FIRST, true).why())
                .isEqualTo(noDevice + " does not exist; no journal in " + gone);
        Files.createDirectories(gone.resolve("machine"));
        Files.writeString(gone.resolve("machine/system.journal"), "");
        assertThat(without.choose(LogSource.Start.FIRST, true).why()).endsWith("; no no-such-tool on the PATH");
        SourceSelector journal =
                new SourceSelector(settings, boot, Optional.empty(), List.of(gone), List.of("/bin/true"), noDevice);
        assertThat(journal.choose(LogSource.Start.FIRST, true).source().orElseThrow())
                .isInstanceOf(JournalSource.class);
    }
}
