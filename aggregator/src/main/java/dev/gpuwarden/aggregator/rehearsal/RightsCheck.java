package dev.gpuwarden.aggregator.rehearsal;

import dev.gpuwarden.aggregator.client.AccessReviewer;
import dev.gpuwarden.aggregator.client.AccessReviewer.Account;
import dev.gpuwarden.aggregator.client.AccessReviewer.Right;
import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.part.Need;
import dev.gpuwarden.aggregator.rehearsal.Timeline.MissingRights;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The check of the rights that each write needs.
 *
 * @param checked the user whose rights were checked
 * @param note the limit of the check; empty without one
 */
record RightsCheck(String checked, List<MissingRights> missing, Optional<String> note) {

    /** Checks the rights of the account, or those of the caller if the caller may not ask about others. Blocks. */
    static RightsCheck of(KubeClient api, Account account, String caller, List<Need.Rights> needs)
            throws ApiException, InterruptedException {
        try {
            return new RightsCheck(
                    account.user(), missing(new AccessReviewer(api, Optional.of(account)), needs), Optional.empty());
        } catch (ApiException e) {
            if (!e.forbidden()) {
                throw e;
            }
            return new RightsCheck(
                    caller,
                    missing(new AccessReviewer(api), needs),
                    Optional.of("only the rights of " + caller + " were checked, since it may not create"
                            + " subjectaccessreviews.authorization.k8s.io for " + account.user()));
        }
    }

    private static List<MissingRights> missing(AccessReviewer reviewer, List<Need.Rights> needs)
            throws ApiException, InterruptedException {
        List<MissingRights> all = new ArrayList<>();
        for (Need.Rights need : needs) {
            List<Right> missing = reviewer.missing(need.rights());
            if (!missing.isEmpty()) {
                all.add(new MissingRights(need.setting(), missing, need.source()));
            }
        }
        return all;
    }
}
