package dev.pgapply.schema;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.junit.ArchTests;
import com.tngtech.archunit.lang.ArchRule;
import dev.pgapply.architecture.ArchitectureRules;
import java.time.Instant;

@AnalyzeClasses(packages = "dev.pgapply.schema", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {

    @ArchTest
    static final ArchTests EVERYWHERE = ArchTests.in(ArchitectureRules.class);

    @ArchTest
    static final ArchRule FEW_LIBRARIES = ArchitectureRules.dependOnlyOnTheJdkAnd(
            "dev.pgapply.schema..", "dev.pgapply.decoder", "javax.sql", "org.postgresql..", "org.flywaydb.core..");

    @ArchTest
    static final ArchRule STRUCTURES_ARE_COMPARED_WITHOUT_A_CONNECTION = noClasses()
            .that()
            .resideInAPackage("dev.pgapply.schema")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                    "dev.pgapply.schema.*..", "java.sql..", "javax.sql..", "org.postgresql..", "org.flywaydb..")
            .because("decisions do no I/O");

    @ArchTest
    static final ArchRule NO_CLOCK_IS_READ = noClasses()
            .should()
            .callMethod(Instant.class, "now")
            .orShould()
            .callMethod(System.class, "currentTimeMillis")
            .orShould()
            .callMethod(Thread.class, "sleep", long.class);
}
