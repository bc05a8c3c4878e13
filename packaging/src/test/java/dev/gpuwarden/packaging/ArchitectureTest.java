package dev.gpuwarden.packaging;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Boundaries that poms cannot draw: between packages. This module sees all others. */
class ArchitectureTest {

    private static final JavaClasses PROGRAM = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("dev.gpuwarden");

    @Test
    void theRulesSeeEveryModule() {
        assertThat(PROGRAM.stream()
                        .map(JavaClass::getPackageName)
                        .map(name -> name.split("\\.")[2])
                        .collect(Collectors.toSet()))
                .contains("core", "cli", "nat", "testkit", "nccl", "checks", "daemon", "aggregator");
    }

    @Test
    void coreDependsOnTheJdkAlone() {
        classes()
                .that()
                .resideInAPackage("dev.gpuwarden.core..")
                .should()
                .onlyDependOnClassesThat()
                .resideInAnyPackage("dev.gpuwarden.core..", "java..")
                .check(PROGRAM);
    }

    @Test
    void jnaIsTouchedInOnePlace() {
        noClasses()
                .that()
                .resideOutsideOfPackage("dev.gpuwarden.nat..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("com.sun.jna..")
                .check(PROGRAM);
    }

    @Test
    void nativeCodeIsReachedThroughPortsAlone() {
        noClasses()
                .that()
                .resideOutsideOfPackage("dev.gpuwarden.nat..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("dev.gpuwarden.nat..")
                .check(PROGRAM);
    }

    @Test
    void healthAndChecksDependOnNeitherMetricsNorCommands() {
        noClasses()
                .that()
                .resideInAnyPackage(
                        "dev.gpuwarden..health..",
                        "dev.gpuwarden..check..",
                        "dev.gpuwarden.checks",
                        "dev.gpuwarden.checks.gpu..",
                        "dev.gpuwarden.checks.host..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(
                        "dev.gpuwarden..metrics..", "dev.gpuwarden.cli..", "dev.gpuwarden..command..", "picocli..")
                .check(PROGRAM);
    }

    @Test
    void packagesFormNoCycles() {
        slices().matching("dev.gpuwarden.(**)").should().beFreeOfCycles().check(PROGRAM);
    }

    @Test
    void filesOfTheJanitorFormNoCycles() {
        slices().assignedFrom(new FilesOf("dev.gpuwarden.aggregator.janitor"))
                .should()
                .beFreeOfCycles()
                .check(PROGRAM);
    }

    /** Each file of a package is a slice. */
    private record FilesOf(String name) implements SliceAssignment {

        @Override
        public SliceIdentifier getIdentifierOf(JavaClass type) {
            return type.getPackageName().equals(name)
                    ? SliceIdentifier.of(type.getName().replaceFirst("\\$.*", ""))
                    : SliceIdentifier.ignore();
        }

        @Override
        public String getDescription() {
            return "files of " + name;
        }
    }
}
