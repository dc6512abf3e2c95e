package dev.pgapply.architecture;

import static com.tngtech.archunit.lang.SimpleConditionEvent.violated;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import org.jspecify.annotations.NullMarked;

/// What holds in every module. A module takes all of it into its own `ArchitectureTest`, beside the rules of
/// its own:
///
/// ```
/// @AnalyzeClasses(packages = "dev.pgapply.conflict", importOptions = ImportOption.DoNotIncludeTests.class)
/// class ArchitectureTest {
///     @ArchTest
///     static final ArchTests EVERYWHERE = ArchTests.in(ArchitectureRules.class);
/// }
/// ```
public final class ArchitectureRules {

    private ArchitectureRules() {}

    @ArchTest
    static final ArchRule PACKAGES_HAVE_NO_CYCLES =
            slices().matching("dev.pgapply.(**)").should().beFreeOfCycles().allowEmptyShould(true);

    @ArchTest
    static final ArchRule NAMES_SAY_WHAT_A_CLASS_IS = noClasses()
            .should()
            .haveNameMatching(".*(Util|Utils|Helper|Manager|Impl|Common)")
            .orShould()
            .haveNameMatching(".*\\.Abstract[^.]*")
            .because("a name comes from the domain or from PostgreSQL");

    @ArchTest
    static final ArchRule PACKAGES_ARE_NULL_MARKED = classes().should(beInANullMarkedPackage());

    /// The packages of the JDK that any module may use, and the null annotations.
    ///
    /// @param packages what this module may use besides, as ArchUnit package identifiers
    public static ArchRule dependOnlyOnTheJdkAnd(String... packages) {
        String[] allowed = new String[packages.length + 2];
        System.arraycopy(packages, 0, allowed, 0, packages.length);
        allowed[packages.length] = "java..";
        allowed[packages.length + 1] = "org.jspecify.annotations";
        return classes().should().onlyDependOnClassesThat().resideInAnyPackage(allowed);
    }

    private static ArchCondition<JavaClass> beInANullMarkedPackage() {
        return new ArchCondition<>("be in a @NullMarked package") {
            @Override
            public void check(JavaClass javaClass, ConditionEvents events) {
                if (!javaClass.getPackage().isAnnotatedWith(NullMarked.class)) {
                    events.add(violated(javaClass, javaClass.getPackageName() + " is not @NullMarked"));
                }
            }
        };
    }
}
