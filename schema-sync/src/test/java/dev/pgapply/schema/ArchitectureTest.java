package dev.pgapply.schema;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.junit.ArchTests;
import com.tngtech.archunit.lang.ArchRule;
import dev.pgapply.architecture.ArchitectureRules;

@AnalyzeClasses(packages = "dev.pgapply.schema", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {

    @ArchTest
    static final ArchTests EVERYWHERE = ArchTests.in(ArchitectureRules.class);

    @ArchTest
    static final ArchRule KNOWS_NOTHING_OF_CONFLICTS_OR_APPLYING = noClasses()
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("dev.pgapply.conflict..", "dev.pgapply.apply..", "dev.pgapply.cli..");

    @ArchTest
    static final ArchRule STRUCTURES_ARE_FREE_OF_SQL = noClasses()
            .that()
            .resideInAPackage("dev.pgapply.schema")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("java.sql..", "dev.pgapply.schema.postgres..");
}
