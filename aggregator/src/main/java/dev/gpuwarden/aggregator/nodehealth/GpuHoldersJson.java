package dev.gpuwarden.aggregator.nodehealth;

import dev.gpuwarden.core.holder.GpuHolder;
import dev.gpuwarden.core.holder.GpuHolder.Kind;
import dev.gpuwarden.core.holder.GpuHolders;
import dev.gpuwarden.core.holder.UnresolvedDevice;
import dev.gpuwarden.core.model.Reading;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * `status.holdings` of a `NodeHealth`. Pure. What a node says is bounded, and holders are kept only under names that Kubernetes
 * and NVIDIA give: what is left out is counted, so that whoever reads it knows that it is not all.
 */
public final class GpuHoldersJson {

    static final int MOST_HOLDERS = 1024;
    static final int MOST_UNRESOLVED = 64;
    /** Beside the faults, which have 768 KiB, and monitors', within the 1.5 MiB that etcd takes. */
    static final long MOST_BYTES = 256 << 10;

    static final int LONGEST_NAME = 256;
    static final int LONGEST_REASON = 512;

    private static final Pattern LABEL = Pattern.compile("[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?");
    private static final Pattern POD = Pattern.compile("[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?");
    private static final Pattern GPU = Pattern.compile("GPU-[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}");

    private GpuHoldersJson() {}

    /**
     * @param id of the question
     * @param said by the node, or what is known instead of that
     * @param now when it was said, in this program's clock
     */
    public static Map<String, Object> of(String id, Reading<GpuHolders> said, Instant now) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("id", id);
        tree.put("answered", now.toString());
        if (said instanceof Reading.Present<GpuHolders> present) {
            fill(tree, present.value());
        } else if (said instanceof Reading.Absent<GpuHolders> absent) {
            tree.put(
                    "error",
                    ShownText.cut(absent.detail().isEmpty() ? absent.text() : absent.detail(), LONGEST_REASON));
        }
        return tree;
    }

    private static void fill(Map<String, Object> tree, GpuHolders said) {
        List<Map<String, Object>> holders = new ArrayList<>();
        long bytes = 0;
        for (GpuHolder holder : said.holders()) {
            if (!plausible(holder)) {
                continue;
            }
            Map<String, Object> one = tree(holder);
            bytes += ShownText.bytes(one);
            if (holders.size() == MOST_HOLDERS || bytes > MOST_BYTES) {
                break;
            }
            holders.add(one);
        }
        List<Map<String, Object>> unresolved = said.unresolved().stream()
                .limit(MOST_UNRESOLVED)
                .map(GpuHoldersJson::tree)
                .toList();
        tree.put("asOf", said.asOf().toString());
        tree.put("holders", holders);
        tree.put("unresolved", unresolved);
        tree.put(
                "unlistedCount",
                Math.min(
                        Integer.MAX_VALUE,
                        said.unlisted()
                                + said.holders().size()
                                - holders.size()
                                + said.unresolved().size()
                                - unresolved.size()));
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
}
