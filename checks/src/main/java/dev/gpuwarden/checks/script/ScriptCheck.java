package dev.gpuwarden.checks.script;

import dev.gpuwarden.checks.child.ChildRun;
import dev.gpuwarden.checks.child.FileTrust;
import dev.gpuwarden.cli.FileErrors;
import dev.gpuwarden.core.check.CheckContext;
import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.HealthCheck;
import dev.gpuwarden.core.health.Finding;
import java.io.IOException;
import java.io.InputStream;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** A check that runs a script of checks.d. */
final class ScriptCheck implements HealthCheck {

    static final String SEARCH_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

    private static final System.Logger LOG = System.getLogger(ScriptCheck.class.getName());

    private static final int MOST_SCRIPTS = 100;
    private static final int HEADER_BYTES = 4096;
    private static final int HEADER_LINES = 30;

    private final Path file;
    private final ScriptHeader header;
    private final List<String> problems;
    private final String nodeName;
    private final ChildSlots slots;
    private final ScriptLog log = new ScriptLog();

    /** @param problems reasons besides those of its header why it never runs */
    ScriptCheck(Path file, ScriptHeader header, List<String> problems, String nodeName, ChildSlots slots) {
        this.file = file;
        this.header = header;
        this.problems = new ArrayList<>(header.problems());
        this.problems.addAll(problems);
        this.nodeName = nodeName;
        this.slots = slots;
    }

    /** Returns the description. One run confirms; a script that needs confirmation can test twice itself. */
    @Override
    public CheckInfo info() {
        return CheckInfo.of(header.id(), header.component(), "The script " + CleanText.of(name(), 80) + " passes.")
                .every(header.every());
    }

    @Override
    public Duration deadline() {
        return ChildSlots.deadline(header.timeout());
    }

    private String name() {
        return file.getFileName().toString();
    }

    @Override
    public List<Finding> run(CheckContext context) {
        Optional<String> refused = problems.isEmpty()
                ? FileTrust.problem(file).map(why -> file + " " + why)
                : Optional.of(file + ": " + String.join("; ", problems));
        List<Finding> findings;
        String wrote = "";
        if (refused.isPresent()) {
            findings = ScriptVerdict.broken(refused.get() + "; it does not run");
        } else {
            ChildRun run = slots.run(List.of(file.toString()), Path.of("/"), environment(context), header.timeout());
            findings = ScriptVerdict.of(name(), run, context.node());
            wrote = run.err();
        }
        log.note("check " + header.id(), findings, wrote);
        return findings;
    }

    /** Returns the script's environment, without this program's own, which contains passwords. */
    private Map<String, String> environment(CheckContext context) {
        return Map.of(
                "PATH",
                SEARCH_PATH,
                "LANG",
                "C.UTF-8",
                "NODE_NAME",
                nodeName,
                "GPUWARDEN_SYSFS",
                context.sysfs().toString(),
                "GPUWARDEN_PROCFS",
                context.procfs().toString());
    }

    private static String why(Exception e) {
        return e instanceof IOException io ? FileErrors.why(io) : String.valueOf(e.getMessage());
    }

    /**
     * Returns the checks. A file that is not executable is no check, unless it begins as a script does: then its check
     * reports the missing permission. A script's defect is reported by its own check and stops nothing else.
     *
     * @param taken IDs that scripts must not have
     */
    static List<HealthCheck> load(Path folder, Set<String> taken, String nodeName, ChildSlots slots) {
        List<Path> files = new ArrayList<>();
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder.toAbsolutePath())) {
            entries.forEach(files::add);
        } catch (IOException | DirectoryIteratorException e) {
            if (Files.exists(folder)) {
                LOG.log(
                        Level.WARNING,
                        "no script runs, the folder of scripts cannot be read: " + folder + ": " + why(e));
            }
            return List.of();
        }
        Collections.sort(files);
        Set<String> ids = new HashSet<>(taken);
        List<HealthCheck> checks = new ArrayList<>();
        for (Path file : files) {
            String start = start(file);
            if (!isCheck(file, start)) {
                continue;
            }
            if (checks.size() == MOST_SCRIPTS) {
                LOG.log(Level.WARNING, "scripts beyond the bound of " + MOST_SCRIPTS + " do not run: " + folder);
                break;
            }
            checks.add(check(file, start, ids, nodeName, slots));
        }
        return List.copyOf(checks);
    }

    private static HealthCheck check(Path file, String start, Set<String> ids, String nodeName, ChildSlots slots) {
        ScriptHeader header = ScriptHeader.of(
                file.getFileName().toString(), start.lines().limit(HEADER_LINES).toList());
        List<String> problems = new ArrayList<>();
        if (!ids.add(header.id())) {
            String wanted = header.id();
            int number = 2;
            while (!ids.add("script-" + wanted + "-" + number)) {
                number++;
            }
            problems.add("another check has the ID " + wanted + " already");
            header = new ScriptHeader(
                    "script-" + wanted + "-" + number,
                    header.component(),
                    header.every(),
                    header.timeout(),
                    header.problems());
        }
        return new ScriptCheck(file, header, problems, nodeName, slots);
    }

    private static boolean isCheck(Path file, String start) {
        String name = file.getFileName().toString();
        // Files that editors and package managers leave behind are executable too.
        boolean leftOver = name.startsWith(".")
                || name.endsWith("~")
                || name.matches(".*\\.(bak|orig|rej|swp|tmp|disabled|dpkg-[a-z]+|rpm[a-z]+)");
        return !leftOver && Files.isRegularFile(file) && (Files.isExecutable(file) || start.startsWith("#!"));
    }

    private static String start(Path file) {
        if (!Files.isRegularFile(file)) {
            return "";
        }
        try (InputStream in = Files.newInputStream(file)) {
            return new String(in.readNBytes(HEADER_BYTES), StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            return "";
        }
    }
}
