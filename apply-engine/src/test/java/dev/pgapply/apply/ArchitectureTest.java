package dev.pgapply.apply;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.junit.ArchTests;
import com.tngtech.archunit.lang.ArchRule;
import dev.pgapply.architecture.ArchitectureRules;

@AnalyzeClasses(packages = "dev.pgapply.apply", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {

    @ArchTest
    static final ArchTests EVERYWHERE = ArchTests.in(ArchitectureRules.class);

    @ArchTest
    static final ArchRule SQL_STAYS_WITH_SOURCE_TARGET_AND_COPY = noClasses()
            .that()
            .resideOutsideOfPackages(
                    "dev.pgapply.apply.source..", "dev.pgapply.apply.target..", "dev.pgapply.apply.tablesync..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("java.sql..", "javax.sql..", "org.postgresql..");

    @ArchTest
    static final ArchRule THE_VOCABULARY_KNOWS_NO_MACHINERY = noClasses()
            .that()
            .resideInAPackage("dev.pgapply.apply")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                    "dev.pgapply.apply.engine..",
                    "dev.pgapply.apply.source..",
                    "dev.pgapply.apply.target..",
                    "dev.pgapply.apply.tablesync..");

    @ArchTest
    static final ArchRule NOBODY_PRINTS =
            noClasses().should().accessField(System.class, "out").orShould().accessField(System.class, "err");
}
