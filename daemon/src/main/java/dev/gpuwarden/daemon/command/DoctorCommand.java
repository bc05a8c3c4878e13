package dev.gpuwarden.daemon.command;

import dev.gpuwarden.cli.ClassArchive;
import dev.gpuwarden.cli.Version;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.port.DriverProvider;
import dev.gpuwarden.daemon.node.NodeFacts;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;
import picocli.CommandLine.Command;

/** Reports the driver library, missing functions and their consequences. */
@Command(
        name = "doctor",
        mixinStandardHelpOptions = true,
        description = "Show the driver library in use, its missing functions and their consequences, its implausible"
                + " answers, and which parts of this node are readable.",
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:the driver answers", "2:wrong usage or configuration", "3:the driver does not answer"})
public final class DoctorCommand extends NodeCommand {

    public DoctorCommand(Supplier<DriverProvider> provider) {
        super(provider);
    }

    @Override
    public Integer call() {
        DoctorReport report = sample(sampler ->
                new DoctorReport(sampler.snapshot(), sampler.capabilities(), sampler.refusals(), surroundings()));
        show(report.tree(), report::print);
        return report.exitCode();
    }

    private Map<String, Reading<String>> surroundings() {
        NodeFacts facts = new NodeFacts(paths);
        Map<String, Reading<String>> all = new LinkedHashMap<>();
        all.put("PID namespace", facts.pidNamespace().map(DoctorCommand::namespaceText));
        all.put("cgroups", facts.cgroupVersion());
        all.put("process table", folder(paths.procfs()));
        all.put("PCI devices", folder(paths.sysfs().resolve("bus/pci/devices")));
        all.put("pod logs", folder(paths.podLogs()));
        all.put("gpuwarden", Reading.of(Version.program()));
        all.put(
                "Java",
                Reading.of(System.getProperty("java.vm.name") + " " + System.getProperty("java.runtime.version")));
        ClassArchive.ofProcess()
                .ifPresent(
                        archive -> all.put("class archive", Reading.of(archive.inUse() ? "in use" : archive.advice())));
        return all;
    }

    private static String namespaceText(String namespace) {
        return namespace.equals("host") ? namespace : namespace + ": processes of other containers cannot be named";
    }

    private static Reading<String> folder(Path folder) {
        return NodeFacts.readable(folder).map(yes -> folder + " is readable");
    }
}
