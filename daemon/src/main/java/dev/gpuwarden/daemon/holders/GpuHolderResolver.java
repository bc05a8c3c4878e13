package dev.gpuwarden.daemon.holders;

import dev.gpuwarden.api.podresources.CDIDevice;
import dev.gpuwarden.api.podresources.ClaimResource;
import dev.gpuwarden.api.podresources.ContainerDevices;
import dev.gpuwarden.api.podresources.ContainerResources;
import dev.gpuwarden.api.podresources.DynamicResource;
import dev.gpuwarden.api.podresources.ListPodResourcesResponse;
import dev.gpuwarden.api.podresources.PodResources;
import dev.gpuwarden.core.holder.GpuHolder;
import dev.gpuwarden.core.holder.GpuHolder.Kind;
import dev.gpuwarden.core.holder.GpuHolders;
import dev.gpuwarden.core.holder.GpuResource;
import dev.gpuwarden.core.holder.UnresolvedDevice;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.daemon.holders.DeviceIds.Meaning;
import java.time.Instant;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/** Resolves the kubelet's answer to the holders of each GPU. Pure. */
final class GpuHolderResolver {

    /** The name of NVIDIA's DRA driver for GPUs and MIG devices; its other driver has no GPUs. */
    private static final String DRA_DRIVER = "gpu.nvidia.com";

    private static final Pattern NUMBERS = Pattern.compile("[0-9]{1,4}(?:::?[0-9]{1,4})?");

    private final DeviceIds ids;
    private final Set<GpuHolder> holders = new LinkedHashSet<>();
    private final Set<UnresolvedDevice> unresolved = new LinkedHashSet<>();

    private GpuHolderResolver(List<GpuIdentity> gpus) {
        this.ids = new DeviceIds(gpus);
    }

    /** @param gpus the node's GPUs as the driver last reported them */
    static GpuHolders of(ListPodResourcesResponse response, List<GpuIdentity> gpus, Instant asOf) {
        GpuHolderResolver all = new GpuHolderResolver(gpus);
        for (PodResources pod : response.getPodResourcesList()) {
            for (ContainerResources container : pod.getContainersList()) {
                container.getDevicesList().forEach(devices -> all.plugin(pod, container, devices));
                container.getDynamicResourcesList().forEach(claim -> all.claim(pod, container, claim));
            }
        }
        return new GpuHolders(asOf, List.copyOf(all.holders), List.copyOf(all.unresolved), 0);
    }

    private void plugin(PodResources pod, ContainerResources container, ContainerDevices devices) {
        String resource = devices.getResourceName();
        boolean ofGpus = GpuResource.isGpu(resource);
        for (String id : devices.getDeviceIdsList()) {
            boolean named = id.startsWith("GPU-") || id.startsWith("MIG-");
            if (ofGpus || named) {
                add(pod, container, resource, id, ids.ofPlugin(id));
            } else if (GpuResource.mayBeGpu(resource) && NUMBERS.matcher(id).matches()) {
                add(
                        pod,
                        container,
                        resource,
                        id,
                        new Meaning.Unknown("a number, which may be a GPU's or something else's"));
            }
        }
    }

    private void claim(PodResources pod, ContainerResources container, DynamicResource claim) {
        String name = claim.getClaimNamespace() + "/" + claim.getClaimName();
        for (ClaimResource device : claim.getClaimResourcesList()) {
            List<String> cdi =
                    device.getCdiDevicesList().stream().map(CDIDevice::getName).toList();
            if (device.getDriverName().equals(DRA_DRIVER)) {
                add(pod, container, name, device.getDeviceName(), ids.ofClaim(device.getDeviceName(), cdi));
            } else if (device.getDriverName().isEmpty() && cdi.stream().anyMatch(id -> id.contains(DRA_DRIVER))) {
                // Kubernetes before 1.32 does not report the device's driver.
                add(pod, container, name, String.join(",", cdi), ids.ofClaim("", cdi));
            }
        }
    }

    private void add(PodResources pod, ContainerResources container, String resource, String id, Meaning meaning) {
        if (meaning instanceof Meaning.Gpu gpu) {
            Kind kind = gpu.kind();
            holders.add(new GpuHolder(pod.getNamespace(), pod.getName(), container.getName(), gpu.uuid(), kind, id));
        } else if (meaning instanceof Meaning.Unknown unknown) {
            unresolved.add(new UnresolvedDevice(
                    pod.getNamespace(), pod.getName(), container.getName(), resource, id, unknown.why()));
        }
    }
}
