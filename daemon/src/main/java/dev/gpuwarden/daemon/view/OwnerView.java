package dev.gpuwarden.daemon.view;

import dev.gpuwarden.checks.view.Values;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.process.Owner;
import java.util.LinkedHashMap;
import java.util.Map;

/** The text and JSON forms of the owner of memory. Names are untrusted; tables and JSON escape them. */
public final class OwnerView {

    /** The digits of a container's id that container engines show. */
    private static final int SHORT_ID = 12;

    private OwnerView() {}

    public static String kind(Owner owner) {
        if (owner instanceof Owner.Pod) {
            return "pod";
        } else if (owner instanceof Owner.Container) {
            return "container";
        } else if (owner instanceof Owner.Unit) {
            return "unit";
        } else if (owner instanceof Owner.BatchJob) {
            return "batch-job";
        } else if (owner instanceof Owner.Guest) {
            return "guest";
        }
        return owner instanceof Owner.SlurmJob ? "job" : "unknown";
    }

    public static String text(Owner owner) {
        if (owner instanceof Owner.Pod pod) {
            return pod(pod);
        } else if (owner instanceof Owner.Container container) {
            return container.runtime() + " " + shortId(container.containerId());
        } else if (owner instanceof Owner.Unit unit) {
            return unit.name();
        } else if (owner instanceof Owner.SlurmJob job) {
            return "slurm " + job.jobId() + (job.step().isEmpty() ? "" : "." + job.step());
        } else if (owner instanceof Owner.BatchJob job) {
            return job.system() + " " + job.jobId();
        } else if (owner instanceof Owner.Guest guest) {
            return guest.text();
        }
        return "? " + ((Owner.Unknown) owner).cause();
    }

    private static String pod(Owner.Pod pod) {
        String name = pod.name() instanceof Reading.Present<String> known
                ? pod.namespace().asOptional().orElse("?") + "/" + known.value()
                : "pod " + pod.uid();
        String container = pod.container()
                .asOptional()
                .or(() -> pod.containerId().asOptional().map(OwnerView::shortId))
                .orElse("");
        return container.isEmpty() ? name : name + " " + container;
    }

    private static String shortId(String id) {
        return id.substring(0, Math.min(SHORT_ID, id.length()));
    }

    /** @param containers true to include the container of a pod */
    public static Map<String, Object> tree(Owner owner, boolean containers) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("kind", kind(owner));
        if (owner instanceof Owner.Pod pod) {
            tree.put("namespace", Values.tree(pod.namespace()));
            tree.put("name", Values.tree(pod.name()));
            tree.put("uid", pod.uid());
            if (containers) {
                tree.put("container", Values.tree(pod.container()));
                tree.put("containerId", Values.tree(pod.containerId()));
            }
        } else if (owner instanceof Owner.Container container) {
            tree.put("runtime", container.runtime());
            tree.put("containerId", container.containerId());
        } else if (owner instanceof Owner.Unit unit) {
            tree.put("name", unit.name());
        } else if (owner instanceof Owner.SlurmJob job) {
            tree.put("job", job.jobId());
            tree.put("step", job.step());
        } else if (owner instanceof Owner.BatchJob job) {
            tree.put("system", job.system());
            tree.put("job", job.jobId());
        } else if (owner instanceof Owner.Guest guest) {
            tree.put("type", guest.type());
            tree.put("name", guest.name());
        } else {
            tree.put("cause", ((Owner.Unknown) owner).cause());
        }
        return tree;
    }
}
