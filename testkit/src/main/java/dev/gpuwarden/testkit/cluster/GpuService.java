package dev.gpuwarden.testkit.cluster;

import dev.gpuwarden.testkit.deviceplugin.AllocateRequest;
import dev.gpuwarden.testkit.deviceplugin.AllocateResponse;
import dev.gpuwarden.testkit.deviceplugin.ContainerAllocateResponse;
import dev.gpuwarden.testkit.deviceplugin.Device;
import dev.gpuwarden.testkit.deviceplugin.DevicePluginGrpc;
import dev.gpuwarden.testkit.deviceplugin.DevicePluginOptions;
import dev.gpuwarden.testkit.deviceplugin.Empty;
import dev.gpuwarden.testkit.deviceplugin.ListAndWatchResponse;
import dev.gpuwarden.testkit.deviceplugin.Mount;
import dev.gpuwarden.testkit.sim.NodeControl;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** The gRPC service of a device plugin: answers a kubelet from the last known state. Thread-safe. */
final class GpuService extends DevicePluginGrpc.DevicePluginImplBase {

    /** Folder of the node's driver, on the node and in containers. */
    private static final String ON_NODE = "/run/simulated-gpus/lib";

    private static final String IN_CONTAINER = "/usr/local/nvidia/lib64";
    private static final String TABLE = "/gpuwarden-sim.table";

    private final Set<StreamObserver<ListAndWatchResponse>> watchers = new HashSet<>();
    private ListAndWatchResponse last = ListAndWatchResponse.getDefaultInstance();

    /** Sends a new state to the watchers. */
    synchronized void tell(List<NodeControl.Gpu> gpus) {
        ListAndWatchResponse now = devices(gpus);
        if (!now.equals(last)) {
            last = now;
            watchers.forEach(watcher -> watcher.onNext(now));
        }
    }

    static ListAndWatchResponse devices(List<NodeControl.Gpu> gpus) {
        ListAndWatchResponse.Builder response = ListAndWatchResponse.newBuilder();
        gpus.forEach(gpu -> response.addDevices(
                Device.newBuilder().setID(gpu.uuid()).setHealth(gpu.fit() ? "Healthy" : "Unhealthy")));
        return response.build();
    }

    /** The driver is the node's for reading; its table is for writing, since the driver counts calls there. */
    static ContainerAllocateResponse allocation(List<String> uuids) {
        return ContainerAllocateResponse.newBuilder()
                .putEnvs("NVIDIA_VISIBLE_DEVICES", String.join(",", uuids))
                .putEnvs("LD_LIBRARY_PATH", IN_CONTAINER)
                .addMounts(Mount.newBuilder()
                        .setHostPath(ON_NODE)
                        .setContainerPath(IN_CONTAINER)
                        .setReadOnly(true))
                .addMounts(Mount.newBuilder().setHostPath(ON_NODE + TABLE).setContainerPath(IN_CONTAINER + TABLE))
                .build();
    }

    @Override
    public void getDevicePluginOptions(Empty request, StreamObserver<DevicePluginOptions> response) {
        response.onNext(DevicePluginOptions.getDefaultInstance());
        response.onCompleted();
    }

    @Override
    public synchronized void listAndWatch(Empty request, StreamObserver<ListAndWatchResponse> response) {
        ((ServerCallStreamObserver<ListAndWatchResponse>) response).setOnCancelHandler(() -> forget(response));
        watchers.add(response);
        response.onNext(last);
    }

    private synchronized void forget(StreamObserver<ListAndWatchResponse> watcher) {
        watchers.remove(watcher);
    }

    @Override
    public void allocate(AllocateRequest request, StreamObserver<AllocateResponse> response) {
        AllocateResponse.Builder all = AllocateResponse.newBuilder();
        request.getContainerRequestsList()
                .forEach(one -> all.addContainerResponses(allocation(one.getDevicesIdsList())));
        response.onNext(all.build());
        response.onCompleted();
    }
}
