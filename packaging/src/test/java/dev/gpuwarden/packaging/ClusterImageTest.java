package dev.gpuwarden.packaging;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gpuwarden.testkit.cluster.Cluster;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The container image, the manifests and the certificates as they are shipped, in pods on real nodes. */
@Tag("nodes")
@Timeout(600)
class ClusterImageTest {

    @TempDir
    Path folder;

    @BeforeEach
    void nodesCanRunHere() {
        Optional<String> missing = Cluster.missing();
        assumeTrue(missing.isEmpty(), missing::orElseThrow);
    }

    @Test
    void installedInAClusterItIsSeenInEveryStory() throws Exception {
        Scripts.Run demo = Scripts.run(
                folder,
                Map.of("TMPDIR", folder.toString()),
                "gpuwarden",
                "demo",
                "cluster",
                "--story",
                "all",
                "--fast");
        assumeTrue(!demo.said().contains("apt-get"), () -> "no container image, so no pods: " + demo.said());
        assertThat(demo.code()).as(demo.out() + demo.said()).isZero();
        assertThat(demo.out()).contains("all of it was seen").doesNotContain("NOT SEEN");
    }
}
