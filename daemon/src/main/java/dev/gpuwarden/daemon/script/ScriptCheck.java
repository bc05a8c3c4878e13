package dev.gpuwarden.daemon.script;

import dev.gpuwarden.core.check.CheckContext;
import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.HealthCheck;
import dev.gpuwarden.core.health.Finding;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A check that runs a script of checks.d. */
final class ScriptCheck implements HealthCheck {

    static final String SEARCH_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

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
}
