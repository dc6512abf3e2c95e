package dev.pgapply.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pgapply.apply.ApplyException;
import dev.pgapply.apply.ApplyException.ChangeRejected;
import dev.pgapply.apply.ApplyException.ConflictStop;
import dev.pgapply.apply.ApplyException.ProtocolViolation;
import dev.pgapply.apply.ApplyException.SchemaMismatch;
import dev.pgapply.apply.ApplyException.SetupException;
import dev.pgapply.apply.ApplyException.SourceLost;
import dev.pgapply.apply.ApplyException.TargetLost;
import dev.pgapply.apply.ErrorCode;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class ExitCodeTest {

    static Stream<Arguments> failures() {
        return Stream.of(
                Arguments.of(new SetupException(ErrorCode.SETUP, "", ""), 3),
                Arguments.of(new SetupException(ErrorCode.SCHEMA_MISMATCH, "", ""), 3),
                Arguments.of(new SourceLost(ErrorCode.SOURCE_LOST, "", "", null), 4),
                Arguments.of(new SourceLost(ErrorCode.SOURCE_REFUSED, "", "", null), 4),
                Arguments.of(new SourceLost(ErrorCode.SLOT_ACTIVE, "", "", null), 4),
                Arguments.of(new TargetLost(ErrorCode.TARGET_LOST, "", "", null), 5),
                Arguments.of(new TargetLost(ErrorCode.TARGET_REFUSED, "", "", null), 5),
                Arguments.of(new TargetLost(ErrorCode.TARGET_FULL, "", "", null), 5),
                Arguments.of(new SchemaMismatch("", "", null, null), 6),
                Arguments.of(new ConflictStop("", "", null, null, null), 6),
                Arguments.of(new ChangeRejected("", "", null, null, null), 6),
                Arguments.of(new ProtocolViolation("", null, null), 6),
                Arguments.of(new SetupException(ErrorCode.SLOT_LOST, "", ""), 7),
                Arguments.of(new SetupException(ErrorCode.INSTANCE_RUNNING, "", ""), 8));
    }

    @ParameterizedTest
    @MethodSource("failures")
    void everyFailureTellsByItsNumberWhoHasToAct(ApplyException failure, int number) {
        assertEquals(number, ExitCode.of(failure).number());
    }
}
