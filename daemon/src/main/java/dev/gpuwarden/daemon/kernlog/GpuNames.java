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
 * Which GPU sits at which address: as the driver lists them, else as it told in the log. What was known once stays known: a GPU
 * that fell off the bus is listed no more, and is the one that is asked for. Not thread-safe.
 */
final class GpuNames {

    /** Some boards show more than one function or virtual one; no node has this many. */
    private static final int MOST = 1024;

    private static final Pattern UUID = Pattern.compile("[A-Za-z0-9-]{1,80}");

    /** The driver's list is a copy of all readings, and a storm asks for every line. */
    private static final long ASK_AGAIN_NANOS = TimeUnit.SECONDS.toNanos(1);

    private static final long OLD_NANOS = TimeUnit.MINUTES.toNanos(1);

    private record Part(Optional<PciAddress> pci, Optional<String> uuid) {}

    private final Supplier<Map<PciAddress, String>> listed;
    private final LongSupplier nanoTime;
    private final Map<PciAddress, String> byAddress = new LinkedHashMap<>();
    private final Map<String, PciAddress> byUuid = new LinkedHashMap<>();
    private final Map<Part, List<Entity>> entities = new HashMap<>();
    private boolean asked;
    private long askedAt;
    private boolean changed;

    GpuNames(Supplier<Map<PciAddress, String>> listed, LongSupplier nanoTime) {
        this.listed = listed;
        this.nanoTime = nanoTime;
    }

    /** As the driver lists them. */
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

    /** Where the driver says that this GPU sits. */
    static Optional<PciAddress> place(NodeSnapshot node, String uuid) {
        return of(node).entrySet().stream()
                .filter(gpu -> gpu.getValue().equals(uuid))
                .map(Map.Entry::getKey)
                .findFirst();
    }

    /** The driver said so in the log. */
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

    Optional<String> uuid(PciAddress pci) {
        PciAddress address = whole(pci);
        ask(!byAddress.containsKey(address));
        return Optional.ofNullable(byAddress.get(address));
    }

    Optional<PciAddress> pci(String uuid) {
        ask(!byUuid.containsKey(uuid));
        return Optional.ofNullable(byUuid.get(uuid));
    }

    private void ask(boolean missing) {
        long age = nanoTime.getAsLong() - askedAt;
        if (asked && age < (missing ? ASK_AGAIN_NANOS : OLD_NANOS)) {
            return;
        }
        asked = true;
        askedAt = nanoTime.getAsLong();
        listed.get().forEach(this::learn);
    }

    /** A part under every name that is known of it; the same list again and again, for a storm asks for every line. */
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

    /** Messages of one GPU name its function or do not. */
    static PciAddress whole(PciAddress pci) {
        return pci.function() == 0 ? pci : new PciAddress(pci.domain(), pci.bus(), pci.device(), 0);
    }

    /** All of them as text, if there is something new since the last call. */
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

    /** What {@link #news} told an earlier process of the same boot. */
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
