package dev.gpuwarden.benchmarks;

import dev.gpuwarden.api.v1.GetGpuRequest;
import dev.gpuwarden.api.v1.GetNodeRequest;
import dev.gpuwarden.api.v1.GpuView;
import dev.gpuwarden.api.v1.ListFaultsRequest;
import dev.gpuwarden.api.v1.ListGpusRequest;
import dev.gpuwarden.api.v1.NodeServiceGrpc;
import dev.gpuwarden.api.v1.NodeServiceGrpc.NodeServiceBlockingStub;
import dev.gpuwarden.core.SuppressForbidden;
import dev.gpuwarden.daemon.grpc.NodeClient;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import org.HdrHistogram.Histogram;

/**
 * Measures the latency of calls to a running daemon, one after the other on one connection. Arguments: socket, calls of each
 * kind.
 */
public final class CallLatency {

    private CallLatency() {}

    @SuppressForbidden("a program of its own: prints its table")
    public static void main(String[] args) {
        PrintStream out = System.out;
        int calls = Integer.parseInt(args[1]);
        out.println("microseconds              bytes    first      p50      p90      p99    p99.9      max");
        try (NodeClient client = NodeClient.of(Path.of(args[0]))) {
            NodeServiceBlockingStub node = NodeServiceGrpc.newBlockingStub(client.channel());
            kinds().forEach((name, call) -> {
                Histogram histogram = new Histogram(3);
                long first = micros(node, call, histogram);
                int bytes = call.apply(node);
                // Warms up the client, whose compilation must not count as the daemon's time.
                for (int i = 0; i < calls / 2; i++) {
                    micros(node, call, histogram);
                }
                histogram.reset();
                for (int i = 0; i < calls; i++) {
                    micros(node, call, histogram);
                }
                out.println(String.format(
                        Locale.ROOT,
                        "%-22s %8d %8d %8d %8d %8d %8d %8d",
                        name,
                        bytes,
                        first,
                        histogram.getValueAtPercentile(50),
                        histogram.getValueAtPercentile(90),
                        histogram.getValueAtPercentile(99),
                        histogram.getValueAtPercentile(99.9),
                        histogram.getMaxValue()));
            });
        }
    }

    /** Returns the calls by name. Each returns the size of its answer in bytes. */
    private static Map<String, Function<NodeServiceBlockingStub, Integer>> kinds() {
        Map<String, Function<NodeServiceBlockingStub, Integer>> kinds = new LinkedHashMap<>();
        kinds.put(
                "GetNode",
                node -> node.getNode(GetNodeRequest.getDefaultInstance()).getSerializedSize());
        kinds.put(
                "GetGpu, state",
                node -> node.getGpu(gpu(GpuView.GPU_VIEW_BASIC)).getSerializedSize());
        kinds.put(
                "GetGpu, readings",
                node -> node.getGpu(gpu(GpuView.GPU_VIEW_READINGS)).getSerializedSize());
        kinds.put(
                "GetGpu, NVLinks too",
                node -> node.getGpu(gpu(GpuView.GPU_VIEW_FULL)).getSerializedSize());
        kinds.put(
                "ListGpus, readings",
                node -> node.listGpus(ListGpusRequest.getDefaultInstance()).getSerializedSize());
        kinds.put(
                "ListFaults",
                node -> node.listFaults(ListFaultsRequest.getDefaultInstance()).getSerializedSize());
        return kinds;
    }

    private static GetGpuRequest gpu(GpuView view) {
        return GetGpuRequest.newBuilder().setGpu("3").setView(view).build();
    }

    private static long micros(
            NodeServiceBlockingStub node, Function<NodeServiceBlockingStub, Integer> call, Histogram histogram) {
        long start = System.nanoTime();
        call.apply(node);
        long micros = (System.nanoTime() - start) / 1000;
        histogram.recordValue(micros);
        return micros;
    }
}
