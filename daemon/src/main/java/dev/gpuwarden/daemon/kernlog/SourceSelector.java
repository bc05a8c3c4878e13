package dev.gpuwarden.daemon.kernlog;

import dev.gpuwarden.cli.FileErrors;
import dev.gpuwarden.core.model.PciAddress;
import java.io.File;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Clock;
import java.time.ZoneId;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * The choice of the source of the kernel log, by the settings and by what can be read.
 *
 * @param driver the driver's events for nodes without a readable log; empty for a scan, which does not wait for events
 */
record SourceSelector(
        KernelLogSettings settings,
        Boot boot,
        Optional<DriverEvents> driver,
        List<Path> journals,
        List<String> journalctl,
        Path device) {

    static final Path KMSG = Path.of("/dev/kmsg");
    private static final String JOURNALCTL = "journalctl";

    /** The journal on disk and in memory (sd_journal_open(3)). */
    private static final List<Path> JOURNALS = List.of(Path.of("/var/log/journal"), Path.of("/run/log/journal"));

    SourceSelector(KernelLogSettings settings, Boot boot, Optional<DriverEvents> driver) {
        this(settings, boot, driver, JOURNALS, List.of(JOURNALCTL), KMSG);
    }

    /** @param addresses returns the address of the GPU with a UUID */
    record DriverEvents(DriverSource.Feed feed, Function<String, Optional<PciAddress>> addresses) {}

    /** A source, or the reason for which there is none. */
    record Choice(Optional<LogSource> source, String why) {
        static Choice of(LogSource source) {
            return new Choice(Optional.of(source), "");
        }

        static Choice none(String why) {
            return new Choice(Optional.empty(), why);
        }
    }

    Choice choose(LogSource.Start start, boolean follow) {
        return switch (settings.source()) {
            case NONE -> Choice.none(settings.off());
            case KMSG, FILE -> Choice.of(byType(settings.path().orElse(device), start, follow));
            case JOURNALD -> Choice.of(journal(start, follow));
            case DRIVER -> driver(Optional.empty());
            case AUTO -> {
                Choice log = auto(start, follow);
                yield log.source().isPresent() ? log : driver(Optional.of(log.why()));
            }
        };
    }

    private Choice driver(Optional<String> noLog) {
        return driver.map(events -> Choice.of(new DriverSource(
                        events.feed,
                        events.addresses,
                        noLog,
                        () -> noLog.isPresent()
                                && auto(LogSource.Start.FIRST, true).source().isPresent(),
                        Clock.systemUTC())))
                .orElseGet(() -> Choice.none(noLog.orElse(DriverSource.NAME + " can be read only while they happen")));
    }

    private Choice auto(LogSource.Start start, boolean follow) {
        Path path = settings.path().orElse(device);
        if (Files.isDirectory(path)) {
            return Choice.of(journal(start, follow));
        }
        Optional<String> refused = refusal(path);
        if (refused.isEmpty()) {
            return Choice.of(byType(path, start, follow));
        }
        if (settings.path().isPresent()) {
            return Choice.none(refused.get());
        }
        Optional<String> noJournal = noJournal();
        return noJournal.isEmpty()
                ? Choice.of(journal(start, follow))
                : Choice.none(refused.get() + "; " + noJournal.get());
    }

    /** Returns the source for the kernel's device, or for a file or pipe that stands for it. */
    private LogSource byType(Path path, LogSource.Start start, boolean follow) {
        return switch (type(path)) {
            case DEVICE -> new KmsgSource(path, start, follow, boot);
            case PIPE -> new PipeSource(path, boot, ZoneId.systemDefault(), trust(path));
            case FILE -> new FileSource(path, start, follow, boot, ZoneId.systemDefault(), trust(path));
        };
    }

    private LineTrust trust(Path path) {
        if (settings.trustsFile()) {
            return LineTrust.KERNEL_TAG;
        }
        return settings.source() == KernelLogSettings.Source.FILE || anyUserWrites(path)
                ? LineTrust.NONE
                : LineTrust.RECORDS;
    }

    private static boolean anyUserWrites(Path path) {
        try {
            return (((Number) Files.getAttribute(path, "unix:mode")).intValue() & 02) != 0;
        } catch (IOException | UnsupportedOperationException e) {
            return false; // A file that is not there yet, or a file system without modes.
        }
    }

    private enum Type {
        DEVICE,
        PIPE,
        FILE
    }

    private static Type type(Path path) {
        try {
            int format = ((Number) Files.getAttribute(path, "unix:mode")).intValue() & 0170000;
            // S_IFCHR and S_IFIFO of stat(2).
            return format == 0020000 ? Type.DEVICE : format == 0010000 ? Type.PIPE : Type.FILE;
        } catch (IOException | UnsupportedOperationException e) {
            return path.equals(KMSG) ? Type.DEVICE : Type.FILE;
        }
    }

    private LogSource journal(LogSource.Start start, boolean follow) {
        return new JournalSource(journalctl, settings.path().map(Path::toString), start, boot.id(), follow);
    }

    /** Returns the reason for which it cannot be opened. A pipe is not opened: its writer would see a reader come and go. */
    private static Optional<String> refusal(Path path) {
        if (type(path) == Type.PIPE && Files.isReadable(path)) {
            return Optional.empty();
        }
        try {
            FileChannel.open(path, StandardOpenOption.READ).close();
            return Optional.empty();
        } catch (java.nio.file.NoSuchFileException e) {
            return Optional.of(path + " does not exist");
        } catch (java.nio.file.AccessDeniedException e) {
            return Optional.of("no permission to read " + path);
        } catch (IOException e) {
            // EPERM where kernel.dmesg_restrict is 1 and CAP_SYSLOG is missing.
            return Optional.of(path + " cannot be read: " + FileErrors.why(e));
        }
    }

    private Optional<String> noJournal() {
        if (journals.stream().noneMatch(SourceSelector::holdsJournal)) {
            return Optional.of("no journal in "
                    + String.join(" or ", journals.stream().map(Path::toString).toList()));
        }
        String tool = journalctl.get(0);
        boolean found = tool.indexOf('/') >= 0 ? Files.isExecutable(Path.of(tool)) : onPath(tool, System.getenv());
        return found ? Optional.empty() : Optional.of("no " + tool + " on the PATH");
    }

    private static boolean onPath(String tool, Map<String, String> environment) {
        for (String folder : environment.getOrDefault("PATH", "").split(File.pathSeparator)) {
            if (!folder.isEmpty() && Files.isExecutable(Path.of(folder, tool))) {
                return true;
            }
        }
        return false;
    }

    /** Returns whether the journal has a file. Each machine has its own folder. */
    private static boolean holdsJournal(Path folder) {
        try (DirectoryStream<Path> machines = Files.newDirectoryStream(folder, Files::isDirectory)) {
            for (Path machine : machines) {
                try (DirectoryStream<Path> files = Files.newDirectoryStream(machine, "*.journal")) {
                    if (files.iterator().hasNext()) {
                        return true;
                    }
                }
            }
        } catch (IOException | java.nio.file.DirectoryIteratorException e) {
            return false;
        }
        return false;
    }
}
