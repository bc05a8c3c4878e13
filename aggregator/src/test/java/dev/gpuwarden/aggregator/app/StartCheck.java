package dev.gpuwarden.aggregator.app;

import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.controller.ActionMode;
import dev.gpuwarden.aggregator.drain.DrainPart;
import dev.gpuwarden.aggregator.drain.DrainReconciler;
import dev.gpuwarden.aggregator.janitor.JanitorPart;
import dev.gpuwarden.aggregator.janitor.JanitorSettings;
import dev.gpuwarden.aggregator.part.ArmedRights;
import dev.gpuwarden.aggregator.part.Need;
import dev.gpuwarden.aggregator.part.Part;
import dev.gpuwarden.aggregator.quarantine.QuarantineSettings;
import dev.gpuwarden.aggregator.remediation.RepairPart;
import dev.gpuwarden.aggregator.remediation.RepairReconciler;
import dev.gpuwarden.aggregator.vram.VramBudgetsPart;
import dev.gpuwarden.aggregator.vram.VramSettings;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The program's check at its start, with settings in place of options. */
final class StartCheck {

    private StartCheck() {}

    static void check(
            KubeClient api,
            Optional<QuarantineSettings> quarantine,
            Optional<DrainReconciler.Settings> drains,
            Optional<RepairReconciler.Settings> repairs,
            Optional<JanitorSettings> janitor,
            Optional<VramSettings> vram)
            throws InterruptedException {
        List<Need> needs = new ArrayList<>();
        quarantine
                .filter(set -> set.mode() == ActionMode.ARMED)
                .ifPresent(set -> needs.add(ArmedRights.armed("quarantine")));
        drains.filter(DrainReconciler.Settings::armed).ifPresent(set -> needs.addAll(DrainPart.needs(set.policies())));
        repairs.filter(RepairReconciler.Settings::armed).ifPresent(set -> needs.addAll(RepairPart.withKinds(set)));
        janitor.ifPresent(set -> needs.addAll(JanitorPart.withJobs(set)));
        vram.ifPresent(set -> needs.addAll(VramBudgetsPart.needs(set)));
        ArmedRights.check(api, List.of(new Part() {
            @Override
            public List<Need> needs() {
                return needs;
            }
        }));
    }
}
