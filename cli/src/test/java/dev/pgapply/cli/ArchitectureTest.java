package dev.pgapply.cli;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.junit.ArchTests;
import com.tngtech.archunit.lang.ArchRule;
import dev.pgapply.architecture.ArchitectureRules;
import java.time.Instant;

/// The directions and names that the compiler cannot enforce.
@AnalyzeClasses(packages = "dev.pgapply.cli", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {

    @ArchTest
    static final ArchTests EVERYWHERE = ArchTests.in(ArchitectureRules.class);

    @ArchTest
    static final ArchRule onlyTheEmbeddedServersSpeakSql = noClasses()
            .that()
            .resideOutsideOfPackage("dev.pgapply.cli.embedded..")
            .should()
            .dependOnClassesThat(resideInAPackage("java.sql..").or(resideInAPackage("org.postgresql..")));

    @ArchTest
    static final ArchRule onlyMainWritesToTheProcessStreams = noClasses()
            .that()
            .doNotBelongToAnyOf(Main.class)
            .should()
            .accessField(System.class, "out")
            .orShould()
            .accessField(System.class, "err");

    @ArchTest
    static final ArchRule timeComesFromAClock = noClasses()
            .should()
            .callMethod(Instant.class, "now")
            .orShould()
            .callMethod(Thread.class, "sleep", long.class);
}
