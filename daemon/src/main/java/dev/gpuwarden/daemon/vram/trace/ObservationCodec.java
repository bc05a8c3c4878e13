package dev.gpuwarden.daemon.vram.trace;

import dev.gpuwarden.checks.view.Values;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.watchdog.observation.GpuBytes;
import dev.gpuwarden.watchdog.observation.GpuObservation;
import dev.gpuwarden.watchdog.observation.ProcessKey;
import dev.gpuwarden.watchdog.observation.Reservation;
import dev.gpuwarden.watchdog.observation.Tenant;
import java.io.IOException;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** An observation as a JSON object. Numbers are bytes and nanoseconds. */
final class ObservationCodec {

    private static final int MOST_TENANTS = 4096;
    private static final int MOST_PROCESSES = 65_536;
    private static final int MOST_RESERVATIONS = 1024;

    private static final Comparator<ProcessKey> BY_PID =
            Comparator.comparingInt(ProcessKey::pid).thenComparingLong(ProcessKey::startTicks);

    private ObservationCodec() {}

    /** @param listed whether to write the tenants; without them, they are those of an earlier observation */
    static Map<String, Object> tree(GpuObservation seen, boolean listed) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("gpu", seen.gpu());
        tree.put("atNanos", seen.atNanos());
        tree.put("sequence", seen.sequence());
        tree.put("memory", Values.tree(seen.memory(), ObservationCodec::tree));
        tree.put("tenantsAtNanos", seen.tenantsAtNanos());
        if (listed) {
            tree.put(
                    "tenants",
                    Values.tree(
                            seen.tenants(),
                            tenants ->
                                    tenants.stream().map(ObservationCodec::tree).toList()));
        }
        if (!seen.reservations().isEmpty()) {
            tree.put(
                    "reservations",
                    seen.reservations().stream().map(ObservationCodec::tree).toList());
        }
        return tree;
    }

    private static Map<String, Object> tree(Reservation reservation) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("number", reservation.number());
        tree.put("tenant", reservation.tenant());
        tree.put("bytes", reservation.bytes());
        tree.put("unusedBytes", reservation.unusedBytes());
        tree.put("sinceNanos", reservation.sinceNanos());
        tree.put("granted", reservation.granted());
        tree.put("borrows", reservation.borrows());
        tree.put("anyGpu", reservation.anyGpu());
        return tree;
    }

    private static Map<String, Object> tree(GpuBytes bytes) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("total", bytes.total());
        tree.put("reserved", bytes.reserved());
        tree.put("used", bytes.used());
        tree.put("free", bytes.free());
        return tree;
    }

    private static Map<String, Object> tree(Tenant tenant) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("id", tenant.id());
        tree.put("name", tenant.name());
        tree.put("workload", tenant.workload());
        tree.put("budget", Values.tree(tenant.budget()));
        tree.put("used", Values.tree(tenant.used()));
        tree.put(
                "processes",
                tenant.processes().stream()
                        .sorted(BY_PID)
                        .map(ObservationCodec::tree)
                        .toList());
        tree.put("priority", tenant.priority());
        tree.put("started", tenant.started().toString());
        tenant.exempt().ifPresent(why -> tree.put("exempt", why));
        tree.put("leaving", tenant.leaving());
        return tree;
    }

    static Map<String, Object> tree(ProcessKey process) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("pid", process.pid());
        tree.put("startTicks", process.startTicks());
        return tree;
    }

    /** @param before tenants of the observation before, for one without tenants */
    static GpuObservation read(Fields fields, Reading<List<Tenant>> before) throws IOException {
        return new GpuObservation(
                fields.text("gpu"),
                fields.number("atNanos"),
                fields.number("sequence"),
                fields.reading("memory", all -> all.object("memory", ObservationCodec::bytes)),
                fields.has("tenants")
                        ? fields.reading(
                                "tenants", all -> all.objects("tenants", MOST_TENANTS, ObservationCodec::tenant))
                        : before,
                fields.number("tenantsAtNanos"),
                fields.has("reservations")
                        ? fields.objects("reservations", MOST_RESERVATIONS, ObservationCodec::reservation)
                        : List.of());
    }

    private static Reservation reservation(Fields fields) throws IOException {
        return new Reservation(
                fields.number("number"),
                fields.text("tenant"),
                fields.number("bytes"),
                fields.number("unusedBytes"),
                fields.number("sinceNanos"),
                fields.flag("granted"),
                fields.flag("borrows"),
                fields.flag("anyGpu"));
    }

    private static GpuBytes bytes(Fields fields) throws IOException {
        return new GpuBytes(
                fields.number("total"), fields.number("reserved"), fields.number("used"), fields.number("free"));
    }

    private static Tenant tenant(Fields fields) throws IOException {
        return new Tenant(
                fields.text("id"),
                fields.text("name"),
                fields.text("workload"),
                fields.reading("budget", all -> all.number("budget")),
                fields.reading("used", all -> all.number("used")),
                new HashSet<>(fields.objects("processes", MOST_PROCESSES, ObservationCodec::process)),
                fields.count("priority", Integer.MIN_VALUE),
                fields.time("started"),
                fields.optionalText("exempt"),
                fields.flag("leaving"));
    }

    static ProcessKey process(Fields fields) throws IOException {
        return new ProcessKey(fields.count("pid", 0), fields.number("startTicks"));
    }
}
