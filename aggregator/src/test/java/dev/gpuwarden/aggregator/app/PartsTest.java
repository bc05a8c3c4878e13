package dev.gpuwarden.aggregator.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.part.Need;
import dev.gpuwarden.aggregator.part.Part;
import dev.gpuwarden.cli.Durations;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

class PartsTest {

    /** Returns the parts that need something of the cluster with these options, in their order. */
    private static List<String> needing(String... options) {
        Parts parts = new Parts();
        CommandSpec command = CommandSpec.create();
        List<Part> acting = List.of(parts.quarantine, parts.drain, parts.janitor, parts.repair, parts.vram);
        Parts.add(acting, command);
        CommandLine line = new CommandLine(command);
        line.registerConverter(Duration.class, Durations::parse);
        var unused = line.parseArgs(options);
        acting.forEach(Part::configure);
        return acting.stream()
                .filter(part -> part.needs().stream().anyMatch(Need.Rights.class::isInstance))
                .map(part -> part.getClass().getSimpleName())
                .toList();
    }

    @Test
    void armedPartsStateTheRightsThatTheProgramChecksAtItsStart() {
        assertThat(needing()).as("dry runs").isEmpty();
        assertThat(needing("--quarantine.mode=armed")).containsExactly("QuarantinePart");
        assertThat(needing(
                        "--quarantine.mode=armed",
                        "--drain.mode=armed",
                        "--remediation.mode=armed",
                        "--janitor.image=i",
                        "--vram.evictions=armed"))
                .containsExactly("QuarantinePart", "DrainPart", "JanitorPart", "RepairPart", "VramBudgetsPart");
    }
}
