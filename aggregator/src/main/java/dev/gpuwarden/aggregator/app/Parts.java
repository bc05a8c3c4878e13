package dev.gpuwarden.aggregator.app;

import dev.gpuwarden.aggregator.controller.ActionMode;
import dev.gpuwarden.aggregator.drain.DrainPart;
import dev.gpuwarden.aggregator.ingest.IngestPart;
import dev.gpuwarden.aggregator.janitor.JanitorPart;
import dev.gpuwarden.aggregator.objectmonitor.MonitorPart;
import dev.gpuwarden.aggregator.part.Part;
import dev.gpuwarden.aggregator.quarantine.QuarantinePart;
import dev.gpuwarden.aggregator.remediation.RepairPart;
import dev.gpuwarden.aggregator.vram.VramBudgetsPart;
import dev.gpuwarden.aggregator.web.PagePart;
import dev.gpuwarden.cli.Mode;
import java.util.List;
import picocli.CommandLine.Model.CommandSpec;

/** The parts of the aggregator, and what each takes from those before it. */
final class Parts {

    final QuarantinePart quarantine = new QuarantinePart();
    final DrainPart drain = new DrainPart(quarantine);
    final JanitorPart janitor = new JanitorPart(quarantine::namespace, drain, this::repairsArmed);
    final RepairPart repair = new RepairPart(quarantine, drain, janitor);
    final MonitorPart monitor = new MonitorPart(() -> ActionMode.of(quarantine.given()));
    final VramBudgetsPart vram = new VramBudgetsPart(quarantine::namespace);
    final IngestPart ingest = new IngestPart(() -> quarantine.controller().isPresent(), vram::messages);
    final PagePart page = new PagePart(quarantine, repair);

    /** All parts, in the order in which they start. */
    final List<Part> all = List.of(quarantine, drain, janitor, repair, monitor, vram, ingest, page);

    private boolean repairsArmed() {
        return repair.given() == Mode.armed;
    }

    /** Adds the options of these parts to a command. */
    static void add(List<Part> parts, CommandSpec command) {
        for (Part part : parts) {
            command.addMixin(part.getClass().getSimpleName(), CommandSpec.forAnnotatedObjectLenient(part));
        }
    }
}
