package dev.gpuwarden.daemon.holders;

import dev.gpuwarden.core.holder.GpuHolder.Kind;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.Identifiers;
import dev.gpuwarden.core.model.Reading;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Resolves device ids to GPUs of this node. Pure. Only unambiguous ids are resolved: a wrong GPU would end a healthy
 * GPU's work and leave a broken one's.
 */
record DeviceIds(List<GpuIdentity> gpus) {

    private static final String HEX = "[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}";
    /** Ids of NVIDIA's device plugin; with `::` one of several replicas. */
    private static final Pattern GPU = Pattern.compile("(GPU-" + HEX + ")(::.+)?");

    private static final Pattern MIG = Pattern.compile("(MIG-" + HEX + ")(?:::.+)?");
    /** Ids of drivers before 470, which include the GPU. */
    private static final Pattern OLD_MIG = Pattern.compile("MIG-(GPU-" + HEX + ")/[0-9]{1,4}/[0-9]{1,4}(?:::.+)?");
    /** The driver's index, and the partition's, as in NVIDIA_VISIBLE_DEVICES. */
    private static final Pattern INDEX = Pattern.compile("([0-9]{1,4})(?::([0-9]{1,4}))?(::.+)?");
    /** Ids of Google's device plugin: the N of /dev/nvidiaN, and a partition or a replica of it. */
    private static final Pattern MINOR = Pattern.compile("nvidia([0-9]{1,4})(/gi[0-9]{1,4})?(/vgpu[0-9]{1,4})?");
    /** Ids of NVIDIA's DRA driver: the minor number, or the index in its first releases. */
    private static final Pattern CLAIMED = Pattern.compile("gpu-([0-9]{1,4})(?:-mig-.+)?");

    private static final Pattern CLAIMED_UUID = Pattern.compile("(?:^|[=-])((?:GPU|MIG)-" + HEX + ")$");

    /** The meaning of an id, or why it is unknown. */
    sealed interface Meaning {
        record Gpu(String uuid, Kind kind) implements Meaning {}

        record Unknown(String why) implements Meaning {}
    }

    /** @param reported as the device plugin reported it to the kubelet */
    Meaning ofPlugin(String reported) {
        String id = Identifiers.gpu(reported);
        Matcher gpu = GPU.matcher(id);
        if (gpu.matches()) {
            // Also a GPU that is not in the list: it may have fallen off the bus, which may be the reason for the
            // lookup.
            return new Meaning.Gpu(gpu.group(1), gpu.group(2) == null ? Kind.EXCLUSIVE : Kind.SHARED);
        }
        Matcher old = OLD_MIG.matcher(id);
        if (old.matches()) {
            return new Meaning.Gpu(old.group(1), Kind.MIG);
        }
        Matcher mig = MIG.matcher(id);
        if (mig.matches()) {
            return parent(mig.group(1), Kind.MIG);
        }
        Matcher minor = MINOR.matcher(id);
        if (minor.matches()) {
            Kind kind = minor.group(2) != null ? Kind.MIG : minor.group(3) != null ? Kind.SHARED : Kind.EXCLUSIVE;
            return one(minor(number(minor)), kind, "no GPU has the minor number " + minor.group(1));
        }
        Matcher index = INDEX.matcher(id);
        if (index.matches()) {
            Kind kind = index.group(2) != null ? Kind.MIG : index.group(3) != null ? Kind.SHARED : Kind.EXCLUSIVE;
            return one(index(number(index)), kind, "no GPU has the index " + index.group(1));
        }
        return new Meaning.Unknown("not a name of a GPU on this node");
    }

    /**
     * @param device as NVIDIA's DRA driver names it in its pool
     * @param cdi names for the container runtime, which may include the UUID
     */
    Meaning ofClaim(String device, List<String> cdi) {
        for (String name : cdi) {
            Matcher uuid = CLAIMED_UUID.matcher(Identifiers.gpu(name));
            if (uuid.find()) {
                return uuid.group(1).startsWith("GPU-")
                        ? new Meaning.Gpu(uuid.group(1), Kind.DRA)
                        : parent(uuid.group(1), Kind.DRA);
            }
        }
        Matcher claimed = CLAIMED.matcher(device);
        if (!claimed.matches()) {
            return new Meaning.Unknown("not a name of a GPU on this node");
        }
        Optional<GpuIdentity> minor = minor(number(claimed));
        if (!minor.equals(index(number(claimed)))) {
            return new Meaning.Unknown("the minor number " + claimed.group(1) + " and the index " + claimed.group(1)
                    + " are of different GPUs, and releases of the driver mean one or the other");
        }
        return one(minor, Kind.DRA, "no GPU has the minor number " + claimed.group(1));
    }

    private Meaning parent(String mig, Kind kind) {
        return one(
                only(gpu -> gpu.mig().stream().anyMatch(part -> part.uuid().equals(mig))),
                kind,
                "no GPU had this partition at the last query of the driver");
    }

    private static Meaning one(Optional<GpuIdentity> gpu, Kind kind, String otherwise) {
        if (gpu.isEmpty()) {
            return new Meaning.Unknown(otherwise);
        }
        return gpu.get().uuid() instanceof Reading.Present<String> uuid
                ? new Meaning.Gpu(uuid.value(), kind)
                : new Meaning.Unknown("the UUID of GPU " + gpu.get().index() + " is not known");
    }

    private Optional<GpuIdentity> minor(int number) {
        return only(gpu -> gpu.minor().equals(Reading.of(number)));
    }

    private Optional<GpuIdentity> index(int number) {
        return only(gpu -> gpu.index() == number);
    }

    private Optional<GpuIdentity> only(Predicate<GpuIdentity> condition) {
        List<GpuIdentity> found = gpus.stream().filter(condition).toList();
        return found.size() == 1 ? Optional.of(found.get(0)) : Optional.empty();
    }

    private static int number(Matcher matcher) {
        return Integer.parseInt(matcher.group(1));
    }
}
