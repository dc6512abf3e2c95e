package dev.pgapply.decoder;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.junit.ArchTests;
import com.tngtech.archunit.lang.ArchRule;
import dev.pgapply.architecture.ArchitectureRules;

@AnalyzeClasses(packages = "dev.pgapply.decoder", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {

    @ArchTest
    static final ArchTests EVERYWHERE = ArchTests.in(ArchitectureRules.class);

    @ArchTest
    static final ArchRule JDK_ALONE = ArchitectureRules.dependOnlyOnTheJdkAnd("dev.pgapply.decoder..");

    @ArchTest
    static final ArchRule DECODER_KNOWS_NO_TRANSACTIONS = noClasses()
            .that()
            .resideInAPackage("dev.pgapply.decoder")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("dev.pgapply.decoder.transaction");

    @ArchTest
    static final ArchRule MESSAGES_ARE_DECODED_WITHOUT_IO = noClasses()
            .that()
            .resideInAPackage("dev.pgapply.decoder")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("java.io", "java.nio.file", "java.sql", "java.util.logging");
}
