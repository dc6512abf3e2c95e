package dev.pgapply.conflict;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.junit.ArchTests;
import com.tngtech.archunit.lang.ArchRule;
import dev.pgapply.architecture.ArchitectureRules;

@AnalyzeClasses(packages = "dev.pgapply.conflict", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {

    @ArchTest
    static final ArchTests EVERYWHERE = ArchTests.in(ArchitectureRules.class);

    @ArchTest
    static final ArchRule PURE = ArchitectureRules.dependOnlyOnTheJdkAnd("dev.pgapply.conflict..");
}
