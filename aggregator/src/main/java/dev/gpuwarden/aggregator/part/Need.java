package dev.gpuwarden.aggregator.part;

import dev.gpuwarden.aggregator.client.AccessReviewer;
import dev.gpuwarden.aggregator.client.AccessReviewer.Right;
import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import java.util.List;

/** A need of a setting, which the cluster must meet before the program may start. */
public interface Need {

    /**
     * Returns a line for each thing that is missing. Blocks.
     *
     * @throws ApiException without an answer: the program starts all the same
     */
    List<String> missing(KubeClient api) throws ApiException, InterruptedException;

    /**
     * The rights of a setting.
     *
     * @param source the manifests that grant them
     * @param other the setting that needs none of them
     */
    record Rights(String setting, List<Right> rights, String source, String other) implements Need {

        @Override
        public List<String> missing(KubeClient api) throws ApiException, InterruptedException {
            List<Right> missing = new AccessReviewer(api).missing(rights);
            return missing.isEmpty()
                    ? List.of()
                    : List.of(setting + " needs rights that this ServiceAccount does not have: "
                            + AccessReviewer.text(missing) + ". Apply the manifests with " + source
                            + ", or start with " + other);
        }
    }
}
