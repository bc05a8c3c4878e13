package dev.gpuwarden.aggregator.nodehealth;

import dev.gpuwarden.aggregator.nodehealth.FaultEntry.ShownText;
import dev.gpuwarden.aggregator.nodehealth.GpuHolderRequests.LookupAnswer;
import dev.gpuwarden.aggregator.nodehealth.GpuHolderRequests.LookupAnswer.Answered;
import dev.gpuwarden.aggregator.nodehealth.GpuHolderRequests.LookupAnswer.Failed;
import dev.gpuwarden.aggregator.nodehealth.GpuHolderRequests.LookupAnswer.Pending;
import dev.gpuwarden.aggregator.nodehealth.GpuHolderRequests.LookupRequest;
import dev.gpuwarden.core.holder.GpuHolder;
import dev.gpuwarden.core.holder.GpuHolder.Kind;
import dev.gpuwarden.core.holder.GpuHolders;
import dev.gpuwarden.core.holder.ProcessHolder;
import dev.gpuwarden.core.holder.UnresolvedDevice;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.util.JsonTrees;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Pattern;

/**
 * The field `status.holdings` of a `NodeHealth`. Pure. A node's answer is bounded. Only holders with valid names of Kubernetes
 * and NVIDIA are kept. The others are counted, so that readers can see that the list is not complete.
 */
public final class GpuHoldersJson {

    static final int MOST_HOLDERS = 1024;
    static final int MOST_UNRESOLVED = 64;

    static final int MOST_PROCESSES = 256;

    /** The limit of versions that did not count what is over it. */
    static final int MOST_UNCOUNTED = 64;

    /** The limit of holders and processes beside the faults, which have 768 KiB, and the faults of monitors, within the 1.5 MiB that etcd accepts. */
    static final long MOST_BYTES = 256 << 10;

    static final int LONGEST_NAME = 256;
    static final int LONGEST_REASON = 512;

    private static final Pattern LABEL = Pattern.compile("[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?");
    private static final Pattern POD = Pattern.compile("[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?");
    private static final Pattern GPU = Pattern.compile("GPU-[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}");

    private GpuHoldersJson() {}

    /**
     * @param id id of the request
     * @param answer the node's answer, or the cause of its absence
     * @param now time of the answer, by this program's clock
     */
    public static Map<String, Object> of(String id, Reading<GpuHolders> answer, Instant now) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("id", id);
        tree.put("answered", now.toString());
        if (answer instanceof Reading.Present<GpuHolders> present) {
            fill(tree, present.value());
        } else if (answer instanceof Reading.Absent<GpuHolders> absent) {
            tree.put(
                    "error",
                    ShownText.cut(absent.detail().isEmpty() ? absent.text() : absent.detail(), LONGEST_REASON));
        }
        return tree;
    }

    private static void fill(Map<String, Object> tree, GpuHolders answer) {
        List<Map<String, Object>> holders = fitting(
                answer.holders().stream()
                        .filter(GpuHoldersJson::plausible)
                        .map(GpuHoldersJson::tree)
                        .iterator(),
                MOST_HOLDERS,
                MOST_BYTES);
        List<Map<String, Object>> unresolved = answer.unresolved().stream()
                .limit(MOST_UNRESOLVED)
                .map(GpuHoldersJson::tree)
                .toList();
        tree.put("asOf", answer.asOf().toString());
        tree.put("holders", holders);
        tree.put("unresolved", unresolved);
        processes(tree, answer, MOST_BYTES - ShownText.bytes(holders));
        tree.put(
                "unlistedCount",
                Math.min(
                        Integer.MAX_VALUE,
                        answer.unlisted()
                                + answer.holders().size()
                                - holders.size()
                                + answer.unresolved().size()
                                - unresolved.size()));
    }

    /** Adds the processes. A short list needs no count, so that definitions of earlier versions still accept it. */
    private static void processes(Map<String, Object> tree, GpuHolders answer, long room) {
        List<Map<String, Object>> processes = fitting(
                answer.processes().stream()
                        .filter(GpuHoldersJson::plausible)
                        .map(GpuHoldersJson::tree)
                        .iterator(),
                MOST_PROCESSES,
                room);
        if (!processes.isEmpty()) {
            tree.put("processes", processes);
        }
        int cut = answer.processes().size() - processes.size();
        long more = cut + answer.unlistedProcesses().orElse(0);
        boolean counted = answer.unlistedProcesses().isPresent() || cut > 0;
        if (counted && (more > 0 || processes.size() >= MOST_UNCOUNTED)) {
            tree.put("unlistedProcessCount", more);
        }
        answer.unsearched().ifPresent(why -> tree.put("processesError", ShownText.cut(why, LONGEST_REASON)));
    }

    /** Returns as many from the start as there is room for. */
    private static List<Map<String, Object>> fitting(Iterator<Map<String, Object>> trees, int most, long room) {
        List<Map<String, Object>> fitting = new ArrayList<>();
        long bytes = 0;
        while (trees.hasNext() && fitting.size() < most) {
            Map<String, Object> one = trees.next();
            bytes += ShownText.bytes(one);
            if (bytes > room) {
                break;
            }
            fitting.add(one);
        }
        return fitting;
    }

    private static boolean plausible(GpuHolder holder) {
        return LABEL.matcher(holder.namespace()).matches()
                && POD.matcher(holder.pod()).matches()
                && LABEL.matcher(holder.container()).matches()
                && GPU.matcher(holder.gpuUuid()).matches();
    }

    private static Map<String, Object> tree(GpuHolder holder) {
        Map<String, Object> tree = container(holder.namespace(), holder.pod(), holder.container());
        tree.put("gpu", holder.gpuUuid());
        tree.put("kind", word(holder.kind()));
        if (!holder.deviceId().equals(holder.gpuUuid())) {
            tree.put("device", ShownText.cut(holder.deviceId(), LONGEST_NAME));
        }
        return tree;
    }

    private static boolean plausible(ProcessHolder holder) {
        return LABEL.matcher(holder.namespace()).matches()
                && POD.matcher(holder.pod()).matches()
                && GPU.matcher(holder.gpuUuid()).matches();
    }

    private static Map<String, Object> tree(ProcessHolder holder) {
        Map<String, Object> tree = container(holder.namespace(), holder.pod(), holder.container());
        tree.put("gpu", holder.gpuUuid());
        return tree;
    }

    private static Map<String, Object> tree(UnresolvedDevice device) {
        Map<String, Object> tree = container(device.namespace(), device.pod(), device.container());
        tree.put("resource", ShownText.cut(device.resource(), LONGEST_NAME));
        tree.put("device", ShownText.cut(device.deviceId(), LONGEST_NAME));
        tree.put("why", ShownText.cut(device.why(), LONGEST_REASON));
        return tree;
    }

    private static Map<String, Object> container(String namespace, String pod, String container) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("namespace", ShownText.cut(namespace, LONGEST_NAME));
        tree.put("pod", ShownText.cut(pod, LONGEST_NAME));
        tree.put("container", ShownText.cut(container, LONGEST_NAME));
        return tree;
    }

    static String word(Kind kind) {
        return switch (kind) {
            case EXCLUSIVE -> "Exclusive";
            case SHARED -> "Shared";
            case MIG -> "MIG";
            case DRA -> "DRA";
        };
    }

    /** The reverse of {@link GpuHoldersJson}. Pure. Unreadable parts make the answer incomplete or failed, never shorter. */
    public static final class HoldingsReader {

        private HoldingsReader() {}

        /**
         * @param nodeHealth the API server's JSON, no older than the answer to the request's write
         * @param id id of the request; answers to other requests do not count
         */
        public static LookupAnswer read(Map<?, ?> nodeHealth, String id) {
            Map<String, Object> answer = JsonTrees.object(JsonTrees.object(nodeHealth, "status"), "holdings");
            if (JsonTrees.text(answer, "id").equals(id)) {
                return answer(answer);
            }
            Optional<LookupRequest> asked = LookupRequest.of(nodeHealth);
            if (asked.isEmpty()) {
                return new Failed("the request is withdrawn");
            }
            return asked.get().id().equals(id)
                    ? new Pending(asked.get().requested())
                    : new Failed("a newer request replaced this one");
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
                List<ProcessHolder> processes = JsonTrees.objects(answer, "processes").stream()
                        .map(HoldingsReader::process)
                        .toList();
                return new Answered(new GpuHolders(
                        asOf, known, devices, left, processes, more(answer, processes), unsearched(answer)));
            } catch (DateTimeException e) {
                return new Failed("the answer cannot be read: asOf is not a time");
            }
        }

        private static Optional<String> unsearched(Map<String, Object> answer) {
            return Optional.of(JsonTrees.text(answer, "processesError")).filter(why -> !why.isEmpty());
        }

        private static OptionalLong more(Map<String, Object> answer, List<ProcessHolder> processes) {
            if (answer.get("unlistedProcessCount") instanceof Number more) {
                return OptionalLong.of(Math.max(0, more.longValue()));
            }
            return processes.size() < MOST_UNCOUNTED ? OptionalLong.of(0) : OptionalLong.empty();
        }

        /** Returns the holder; empty if fields are missing, or of a kind that this version does not support. */
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

        private static ProcessHolder process(Map<String, Object> tree) {
            return new ProcessHolder(
                    JsonTrees.text(tree, "namespace"),
                    JsonTrees.text(tree, "pod"),
                    JsonTrees.text(tree, "container"),
                    JsonTrees.text(tree, "gpu"));
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
}
