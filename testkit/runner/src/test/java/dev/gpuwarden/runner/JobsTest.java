package dev.gpuwarden.runner;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.runner.compile.TestModule;
import dev.gpuwarden.runner.compile.Workspace;
import dev.gpuwarden.runner.jvm.Tier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class JobsTest {

    private final Workspace workspace =
            new Workspace(Path.of(System.getProperty("gpuwarden.repository")), Path.of("none"));
    private final List<Job> jobs =
            Table.rows("jobs.tsv").stream().map(Job::parse).toList();

    @Test
    void everyModuleHasItsUnitTestsRunSoThatNoOtherTierOfItGoesUnseen() {
        assertThat(jobs.stream().filter(job -> job.tier() == Tier.UNIT).map(Job::module))
                .containsExactlyInAnyOrderElementsOf(
                        workspace.modules().stream().map(TestModule::name).toList());
    }

    @Test
    void everyJobIsThereOnce() {
        assertThat(jobs).extracting(Job::name).doesNotHaveDuplicates();
    }

    @Test
    void everyCommandIsThere() {
        assertThat(jobs.stream().filter(job -> !job.ofTests()))
                .isNotEmpty()
                .allMatch(job -> Files.isExecutable(
                        workspace.root().resolve(job.command().get(0))));
    }

    @Test
    void testsOnRealNodesNeverRunSideBySide() {
        assertThat(jobs.stream().filter(job -> job.tier() == Tier.NODES && job.ofTests()))
                .allMatch(job -> job.alone().equals("nodes"));
    }

    @Test
    void aClassHasOneTier() {
        assertThat(Tier.of(Set.of())).isEqualTo(Tier.UNIT);
        assertThat(Tier.of(Set.of("api", "soak"))).isEqualTo(Tier.SOAK);
        assertThat(Tier.of(Set.of("api", "other"))).isEqualTo(Tier.API);
        assertThatThrownBy(() -> Tier.of(Set.of("api", "nodes"))).hasMessageContaining("seen [API, NODES]");
    }

    @Test
    void slowClassesExist() {
        assertThat(Table.rows("slow-classes.tsv"))
                .allSatisfy(row -> assertThat(workspace.modules())
                        .anyMatch(module -> Files.exists(module.folder()
                                .resolve("src/test/java/" + row.split("\\s+", 2)[0].replace('.', '/') + ".java"))));
    }
}
