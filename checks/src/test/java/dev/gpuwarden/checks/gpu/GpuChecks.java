package dev.gpuwarden.checks.gpu;

import dev.gpuwarden.core.check.CheckContext;
import dev.gpuwarden.core.check.HealthCheck;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Outcome;
import java.util.ArrayList;
import java.util.List;
import java.util.ServiceLoader;

/** The checks of this package, in tests. */
final class GpuChecks {

    private GpuChecks() {}

    static List<HealthCheck> all() {
        return ServiceLoader.load(HealthCheck.class).stream()
                .map(ServiceLoader.Provider::get)
                .filter(check -> check.getClass().getPackage().equals(GpuChecks.class.getPackage()))
                .toList();
    }

    /**
     * Returns findings that are neither PASS nor SKIPPED, as "check code outcome" in the order of GPUs, each text once.
     */
    static List<String> complaints(CheckContext context) {
        List<String> complaints = new ArrayList<>();
        for (HealthCheck check : all()) {
            for (Finding finding : check.run(context)) {
                if (finding.outcome() != Outcome.PASS && finding.outcome() != Outcome.SKIPPED) {
                    complaints.add(check.info().id() + " " + finding.code() + " " + finding.outcome());
                }
            }
        }
        return complaints.stream().distinct().sorted().toList();
    }
}
