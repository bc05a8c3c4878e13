package dev.gpuwarden.daemon.kernlog;

import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.regex.Pattern;

/**
 * The UUIDs of GPUs by PCI address, from the driver's list and from the driver's lines in the log. A known pair stays known: the
 * driver no longer lists a GPU that fell off the bus, and that GPU is the one in question. Not thread-safe.
 */
final class GpuNames {

    /** The bound of known addresses. Some boards have several functions or virtual ones, but no node has this many. */
    private static final int MOST = 1024;

    private static final Pattern UUID = Pattern.compile("[A-Za-z0-9-]{1,80}");

    /** The pause between lookups in the driver's list. The list is a copy of all readings, and a storm needs it for every line. */
    private static final long LOOKUP_NANOS = TimeUnit.SECONDS.toNanos(1);

    private static final long OLD_NANOS = TimeUnit.MINUTES.toNanos(1);

    private record Part(Optional<PciAddress> pci, Optional<String> uuid) {}

    private final Supplier<Map<PciAddress, String>> listed;
    private final LongSupplier nanoTime;
    private final Map<PciAddress, String> byAddress = new LinkedHashMap<>();
    private final Map<String, PciAddress> byUuid = new LinkedHashMap<>();
    private final Map<PciAddress, String> supposed = new HashMap<>();
    private final Map<Part, List<Entity>> entities = new HashMap<>();
    private boolean refreshed;
    private long refreshedAt;
    private boolean changed;

    GpuNames(Supplier<Map<PciAddress, String>> listed, LongSupplier nanoTime) {
        this.listed = listed;
        this.nanoTime = nanoTime;
    }

    /** Returns the pairs of a snapshot. */
    static Map<PciAddress, String> of(NodeSnapshot node) {
        Map<PciAddress, String> names = new LinkedHashMap<>();
        for (GpuSnapshot gpu : node.gpus()) {
            gpu.identity()
                    .pci()
                    .asOptional()
                    .ifPresent(pci -> gpu.identity().uuid().asOptional().ifPresent(uuid -> names.put(pci, uuid)));
        }
        return names;
    }

    /** Returns the address of a GPU in a snapshot. */
    static Optional<PciAddress> place(NodeSnapshot node, String uuid) {
        return of(node).entrySet().stream()
                .filter(gpu -> gpu.getValue().equals(uuid))
                .map(Map.Entry::getKey)
                .findFirst();
    }

    /** Adds a pair that the driver reported. */
    void learn(PciAddress pci, String uuid) {
        PciAddress address = whole(pci);
        if (!UUID.matcher(uuid).matches()
                || byAddress.size() >= MOST && !byAddress.containsKey(address)
                || uuid.equals(byAddress.get(address))) {
            return;
        }
        String before = byAddress.put(address, uuid);
        if (before != null) {
            byUuid.remove(before);
        }
        byUuid.put(uuid, address);
        changed = true;
    }

    /**
     * Adds a pair that any user may have written. It counts where no other is known, and never in the next process, which may read a log
     * that proves its writers.
     */
    void suppose(PciAddress pci, String uuid) {
        if (UUID.matcher(uuid).matches() && supposed.size() < MOST) {
            supposed.putIfAbsent(whole(pci), uuid);
        }
    }

    Optional<String> uuid(PciAddress pci) {
        PciAddress address = whole(pci);
        String known = byAddress.get(address);
        return Optional.ofNullable(refresh(known == null) ? byAddress.get(address) : known)
                .or(() -> Optional.ofNullable(supposed.get(address)).filter(uuid -> !byUuid.containsKey(uuid)));
    }

    Optional<PciAddress> pci(String uuid) {
        refresh(!byUuid.containsKey(uuid));
        return Optional.ofNullable(byUuid.get(uuid))
                .or(() -> supposed.entrySet().stream()
                        .filter(pair -> pair.getValue().equals(uuid) && !byAddress.containsKey(pair.getKey()))
                        .map(Map.Entry::getKey)
                        .findFirst());
    }

    /** Returns whether the driver's list was looked up again. */
    private boolean refresh(boolean missing) {
        long age = nanoTime.getAsLong() - refreshedAt;
        if (refreshed && age < (missing ? LOOKUP_NANOS : OLD_NANOS)) {
            return false;
        }
        refreshed = true;
        refreshedAt = nanoTime.getAsLong();
        listed.get().forEach(this::learn);
        return true;
    }

    /** Returns a GPU's entities, one for each known name. The lists are cached, because a storm needs one for every line. */
    List<Entity> entities(Optional<PciAddress> pci, Optional<String> uuid) {
        if (entities.size() >= MOST) {
            entities.clear();
        }
        return entities.computeIfAbsent(new Part(pci, uuid), part -> {
            List<Entity> all = new ArrayList<>(2);
            part.pci.ifPresent(address -> all.add(Entity.pci(address)));
            part.uuid.ifPresent(id -> all.add(Entity.gpu(id)));
            return List.copyOf(all);
        });
    }

    /** Returns the address without its function: messages of one GPU print the function or omit it. */
    static PciAddress whole(PciAddress pci) {
        return pci.function() == 0 ? pci : new PciAddress(pci.domain(), pci.bus(), pci.device(), 0);
    }

    /** Returns all pairs as text, if one is new since the last call. */
    Optional<String> news() {
        if (!changed) {
            return Optional.empty();
        }
        changed = false;
        StringBuilder text = new StringBuilder();
        byAddress.forEach(
                (pci, uuid) -> text.append(pci).append('=').append(uuid).append(' '));
        return Optional.of(text.toString().trim());
    }

    /** Adds the pairs that {@link #news} returned in an earlier process of the same boot. */
    void recall(String text) {
        for (String pair : text.split(" ")) {
            int equals = pair.indexOf('=');
            if (equals > 0) {
                PciAddress.parse(pair.substring(0, equals)).ifPresent(pci -> learn(pci, pair.substring(equals + 1)));
            }
        }
        changed = false;
    }
}
