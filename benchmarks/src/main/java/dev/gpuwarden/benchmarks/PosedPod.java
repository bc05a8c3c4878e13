package dev.gpuwarden.benchmarks;

import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * A node of the cluster with one simulated L4 that is nearly full, and a daemon that holds pods to their VRAM budgets. The control group of
 * a user's process poses as one of a pod that is within its budget.
 *
 * @param card the node's simulated GPU
 */
record PosedPod(SimulatedNode card, ShippedDaemon daemon) implements AutoCloseable {

    static final String NAME = "victim";

    private static final String CARD = """
            description: one L4 that is nearly full
            driver: 550
            gpus: [{profile: l4}]
            processes:
              - {pid: 47001, gpu: 0, bytes: 2GiB, pod: {namespace: load, name: victim, uid: UID, container: main}}
              - {pid: 47002, gpu: 0, bytes: 13GiB, unit: filler.service}
              - pid: 47003
                gpu: 0
                bytes: 6000MiB
                cgroup: /user.slice/user-1000.slice/user@1000.service/app.slice/kubepods-podSLICE.slice/cri-containerd-CONTAINER.scope
            """.replace("CONTAINER", "5e".repeat(32));

    /**
     * Creates the pod on the last node, and starts that node's card and daemon.
     *
     * @param stage folder for their files
     */
    static PosedPod start(Path stage, LoadCluster cluster, int ingest, Path ca) throws Exception {
        String node = cluster.names.get(cluster.names.size() - 1);
        String uid = WrongActs.pod(cluster, NAME, node);
        Path token = Files.writeString(stage.resolve("card-token"), cluster.token(node));
        String scenario = CARD.replace("UID", uid).replace("SLICE", uid.replace('-', '_'));
        SimulatedNode card = SimulatedNode.start(
                Files.writeString(stage.resolve("card.yaml"), scenario).toString());
        List<String> options = List.of(
                "--node.name=" + node,
                "--events.socket=none",
                "--store.path=" + stage.resolve("card.db"),
                "--uplink.address=localhost:" + ingest,
                "--uplink.tls-ca=" + ca,
                "--uplink.token-file=" + token,
                "--vram.mode=armed",
                "--vram.pods=on",
                "--vram.advertise=on");
        return new PosedPod(card, ShippedDaemon.start(card, options));
    }

    @Override
    public void close() {
        daemon.close();
        card.close();
    }
}
