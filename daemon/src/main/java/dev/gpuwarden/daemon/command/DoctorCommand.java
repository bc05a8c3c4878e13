package dev.gpuwarden.daemon.command;

import dev.gpuwarden.cli.Output;
import dev.gpuwarden.cli.Version;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.port.DriverProvider;
import dev.gpuwarden.daemon.node.NodeFacts;
import dev.gpuwarden.daemon.node.NodePaths;
import dev.gpuwarden.daemon.node.PciBus;
import dev.gpuwarden.daemon.telemetry.NodeSampler;
import dev.gpuwarden.daemon.telemetry.SamplingSettings;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import java.util.logging.Level;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Says what is there, what is missing, and what that costs. */
@Command(
        name = "doctor",
        mixinStandardHelpOptions = true,
        description = "Show which driver library is used, what it lacks and what that costs, what it answered that"
                + " cannot be true, and what of this node can be seen.",
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:the driver answers", "2:wrong usage or configuration", "3:it does not"})
public final class DoctorCommand implements Callable<Integer> {

    private final Supplier<DriverProvider> provider;

    @Mixin
    Output output = new Output();

    @Mixin
    SamplingSettings sampling = new SamplingSettings();

    @Mixin
    NodePaths paths = new NodePaths();

    @Spec
    CommandSpec spec = CommandSpec.create();

    public DoctorCommand(Supplier<DriverProvider> provider) {
        this.provider = provider;
    }

    @Override
    public Integer call() {
        // What is found is printed; the log would say it twice.
        Logging.install(Level.SEVERE);
        DoctorReport report = NodeSampler.once(
                provider.get(),
                sampling,
                new PciBus(paths),
                sampler -> new DoctorReport(
                        sampler.snapshot(), sampler.capabilities(), sampler.refusals(), surroundings()));
        output.write(spec.commandLine().getOut(), report.tree(), report::print);
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
        return all;
    }

    private static String namespaceText(String namespace) {
        return namespace.equals("host") ? namespace : namespace + ": processes of other containers cannot be named";
    }

    private static Reading<String> folder(Path folder) {
        return NodeFacts.readable(folder).map(yes -> folder + " is readable");
    }
}
