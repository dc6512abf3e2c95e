package dev.pgapply.cli;

import dev.pgapply.cli.output.Console;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.event.Level;

/// SIGTERM and SIGINT: the first asks for an orderly end, which is cut off after a while; a second one ends the
/// process at once. Both are safe at any moment, since a transaction that was not committed comes again at the
/// next start.
final class StopSignals {

    /// Users are promised ten seconds.
    static final Duration PATIENCE = Duration.ofSeconds(9);

    private static final Map<String, ExitCode> SIGNALS =
            Map.of("TERM", ExitCode.TERMINATED, "INT", ExitCode.INTERRUPTED);

    private final Console console;
    private final Duration patience;
    private final IntConsumer halt;

    // Written by the thread of the first signal, read by the one that runs the engine.
    private final AtomicReference<@Nullable ExitCode> first = new AtomicReference<>();

    // Written by the thread that runs the engine, read by those of the signals.
    private volatile Runnable stop = () -> {};
    private volatile boolean endless = true;

    StopSignals(Console console, Duration patience, IntConsumer halt) {
        this.console = console;
        this.patience = patience;
        this.halt = halt;
    }

    /// Takes over both signals of this JVM. They keep their usual meaning where the JVM does not allow that.
    static StopSignals install(Console console) {
        StopSignals signals = new StopSignals(console, PATIENCE, Runtime.getRuntime()::halt);
        SIGNALS.forEach(signals::handle);
        return signals;
    }

    /// What the first signal does; at once if it has come already.
    ///
    /// @param endless the run has no end of its own, so that a signal is its regular end
    void onFirst(boolean endless, Runnable stop) {
        this.endless = endless;
        this.stop = stop;
        if (first.get() != null) {
            stop.run();
        }
    }

    /// The exit code of a run that was ended by a signal; empty if none has come.
    Optional<ExitCode> outcome() {
        return Optional.ofNullable(first.get()).map(signal -> endless ? ExitCode.DONE : signal);
    }

    void received(String name) {
        ExitCode code = SIGNALS.getOrDefault(name, ExitCode.TERMINATED);
        if (!first.compareAndSet(null, code)) {
            halt.accept(code.number());
            return;
        }
        console.log(Level.INFO, "SIG" + name + ": stopping; a second signal ends at once");
        CompletableFuture.delayedExecutor(patience.toMillis(), TimeUnit.MILLISECONDS)
                .execute(this::cutOff);
        stop.run();
    }

    private void cutOff() {
        console.log(Level.WARN, "not stopped in time: what is open is rolled back, and comes again at the next start");
        halt.accept(outcome().orElse(ExitCode.TERMINATED).number());
    }

    // Only sun.misc.Signal lets a process see a second signal, and the compiler warns of its name: hence by reflection.
    private void handle(String name, ExitCode code) {
        try {
            Class<?> signal = Class.forName("sun.misc.Signal");
            Class<?> handler = Class.forName("sun.misc.SignalHandler");
            Object receiver = Proxy.newProxyInstance(
                    StopSignals.class.getClassLoader(), new Class<?>[] {handler}, (proxy, method, arguments) -> {
                        received(name);
                        return null;
                    });
            signal.getMethod("handle", signal, handler)
                    .invoke(null, signal.getConstructor(String.class).newInstance(name), receiver);
        } catch (ReflectiveOperationException e) {
            console.log(Level.DEBUG, "SIG" + name + " keeps its usual meaning, exit code " + code.number());
        }
    }
}
