package dev.gpuwarden.aggregator.nodehealth;

import dev.gpuwarden.aggregator.client.JsonTrees;
import dev.gpuwarden.aggregator.nodehealth.LookupAnswer.Answered;
import dev.gpuwarden.aggregator.nodehealth.LookupAnswer.Failed;
import dev.gpuwarden.aggregator.nodehealth.LookupAnswer.Pending;
import dev.gpuwarden.core.holder.GpuHolder;
import dev.gpuwarden.core.holder.GpuHolder.Kind;
import dev.gpuwarden.core.holder.GpuHolders;
import dev.gpuwarden.core.holder.UnresolvedDevice;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The reverse of {@link GpuHoldersJson}. Pure. What it cannot read makes the answer incomplete or fail, never shorter. */
public final class HoldingsReader {

    private HoldingsReader() {}

    /**
     * @param nodeHealth as the API server's JSON has it, no older than the answer to the question's writing
     * @param id of the question: answers to others are no answer to it
     */
    public static LookupAnswer read(Map<?, ?> nodeHealth, String id) {
        Map<String, Object> answer = JsonTrees.object(JsonTrees.object(nodeHealth, "status"), "holdings");
        if (JsonTrees.text(answer, "id").equals(id)) {
            return answer(answer);
        }
        Optional<LookupRequest> asked = LookupRequest.of(nodeHealth);
        if (asked.isEmpty()) {
            return new Failed("nobody asks for it any more");
        }
        return asked.get().id().equals(id)
                ? new Pending(asked.get().requested())
                : new Failed("somebody has asked anew since");
    }

    private static LookupAnswer answer(Map<String, Object> answer) {
        String error = JsonTrees.text(answer, "error");
        if (!error.isEmpty()) {
            return new Failed(error);
        }
        if (!(answer.get("holders") instanceof List<?> holders)
                || !(answer.get("unresolved") instanceof List<?> unresolved)
                || !(answer.get("unlistedCount") instanceof Number unlisted)) {
            return new Failed("the answer cannot be read");
        }
        try {
            Instant asOf = Instant.parse(JsonTrees.text(answer, "asOf"));
            List<GpuHolder> known = new ArrayList<>();
            for (Map<String, Object> holder : JsonTrees.objects(holders)) {
                holder(holder).ifPresent(known::add);
            }
            List<UnresolvedDevice> devices = JsonTrees.objects(unresolved).stream()
                    .map(HoldingsReader::unresolved)
                    .toList();
            long left = Math.max(0, unlisted.longValue())
                    + holders.size()
                    - known.size()
                    + unresolved.size()
                    - devices.size();
            return new Answered(new GpuHolders(asOf, known, devices, left));
        } catch (DateTimeException e) {
            return new Failed("the answer cannot be read: it does not say as of when");
        }
    }

    /** Empty where it says too little, or more than this version knows. */
    private static Optional<GpuHolder> holder(Map<String, Object> tree) {
        String gpu = JsonTrees.text(tree, "gpu");
        String pod = JsonTrees.text(tree, "pod");
        String device = JsonTrees.text(tree, "device");
        Optional<Kind> kind = Arrays.stream(Kind.values())
                .filter(one -> GpuHoldersJson.word(one).equals(JsonTrees.text(tree, "kind")))
                .findFirst();
        return gpu.isEmpty() || pod.isEmpty() || kind.isEmpty()
                ? Optional.empty()
                : Optional.of(new GpuHolder(
                        JsonTrees.text(tree, "namespace"),
                        pod,
                        JsonTrees.text(tree, "container"),
                        gpu,
                        kind.get(),
                        device.isEmpty() ? gpu : device));
    }

    private static UnresolvedDevice unresolved(Map<String, Object> tree) {
        return new UnresolvedDevice(
                JsonTrees.text(tree, "namespace"),
                JsonTrees.text(tree, "pod"),
                JsonTrees.text(tree, "container"),
                JsonTrees.text(tree, "resource"),
                JsonTrees.text(tree, "device"),
                JsonTrees.text(tree, "why"));
    }
}
