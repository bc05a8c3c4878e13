package dev.gpuwarden.aggregator.app;

import dev.gpuwarden.aggregator.client.AccessReviewer;
import dev.gpuwarden.aggregator.client.AccessReviewer.Right;
import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.controller.ActionMode;
import dev.gpuwarden.aggregator.drain.DrainPolicies;
import dev.gpuwarden.aggregator.drain.DrainPolicies.DrainMode;
import dev.gpuwarden.aggregator.drain.DrainReconciler;
import dev.gpuwarden.aggregator.quarantine.QuarantineSettings;
import dev.gpuwarden.aggregator.vram.VramSettings;
import dev.gpuwarden.cli.UserError;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The check of the rights that an armed aggregator needs beyond those of a dry run. The manifests grant them with the component
 * that arms it. The check runs once, at the start; otherwise the first action on each node would fail.
 */
public final class ArmedRights {

    private static final System.Logger LOG = System.getLogger(ArmedRights.class.getName());

    private static final List<Right> QUARANTINE =
            List.of(new Right("patch", "", "nodes"), new Right("patch", "", "nodes/status"));
    private static final List<Right> ADVERTISE = List.of(new Right("patch", "", "nodes/status"));
    private static final Right EVICT = new Right("create", "", "pods/eviction");
    private static final Right DELETE = new Right("delete", "", "pods");

    private ArmedRights() {}

    /**
     * Checks that this program has the rights. Throws {@link UserError} if one is missing. Blocks for the API server's answer.
     * Without an answer it logs a warning and throws nothing.
     */
    public static void check(
            KubeClient api,
            Optional<QuarantineSettings> quarantine,
            Optional<DrainReconciler.Settings> drains,
            Optional<VramSettings> vram)
            throws InterruptedException {
        AccessReviewer rights = new AccessReviewer(api);
        try {
            if (quarantine.filter(set -> set.mode() == ActionMode.ARMED).isPresent()) {
                check(rights, "quarantine", QUARANTINE);
            }
            Optional<DrainReconciler.Settings> armed = drains.filter(DrainReconciler.Settings::armed);
            if (armed.isPresent()) {
                check(rights, "drain", ofDrain(armed.get().policies()));
            }
            if (vram.isPresent()) {
                checkVram(rights, vram.get());
            }
        } catch (ApiException e) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "cannot read the rights of this program from the API server: " + e.getMessage());
        }
    }

    private static List<Right> ofDrain(DrainPolicies policies) {
        List<Right> needed = new ArrayList<>(List.of(EVICT));
        if (policies.uses(DrainMode.DELETE_AFTER_TIMEOUT)) {
            needed.add(DELETE);
        }
        return needed;
    }

    private static void checkVram(AccessReviewer rights, VramSettings vram) throws ApiException, InterruptedException {
        if (vram.advertises()) {
            check(rights, "--vram.capacity=on", ADVERTISE, "vram-advertise", "--vram.capacity=off");
        }
        if (vram.mode() == ActionMode.ARMED) {
            List<Right> needed = vram.deletes() ? List.of(EVICT, DELETE) : List.of(EVICT);
            check(rights, "--vram.evictions=armed", needed, "vram-armed", "--vram.evictions=dry-run");
        }
    }

    private static void check(AccessReviewer rights, String what, List<Right> needed)
            throws ApiException, InterruptedException {
        check(rights, "--" + what + ".mode=armed", needed, what + "-armed", "--" + what + ".mode=dry-run");
    }

    private static void check(AccessReviewer rights, String setting, List<Right> needed, String component, String other)
            throws ApiException, InterruptedException {
        List<Right> missing = rights.missing(needed);
        if (!missing.isEmpty()) {
            throw new UserError(setting + " needs rights that this ServiceAccount does not have: "
                    + AccessReviewer.text(missing) + ". Apply the manifests with their component components/"
                    + component + ", or start with " + other);
        }
    }
}
