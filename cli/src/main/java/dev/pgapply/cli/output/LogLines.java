package dev.pgapply.cli.output;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.AppenderBase;
import org.slf4j.LoggerFactory;
import org.slf4j.bridge.SLF4JBridgeHandler;

/// Sends everything that is logged to the console, whatever library logs it. Set up in code: a file would cost
/// start-up time, and there is nothing in it that a user should change.
public final class LogLines extends AppenderBase<ILoggingEvent> {

    private final Console console;
    private final boolean traces;

    private LogLines(Console console, boolean traces) {
        this.console = console;
        this.traces = traces;
    }

    /// Replaces the logging set-up of the JVM.
    ///
    /// @param debug log more of pgapply and its libraries, and the stack traces that come with it
    public static void install(Console console, boolean debug) {
        LoggerContext context = (LoggerContext) LoggerFactory.getILoggerFactory();
        context.reset();
        LogLines appender = new LogLines(console, debug);
        appender.setContext(context);
        appender.start();
        context.getLogger(Logger.ROOT_LOGGER_NAME).addAppender(appender);
        context.getLogger(Logger.ROOT_LOGGER_NAME).setLevel(debug ? Level.INFO : Level.WARN);
        context.getLogger("dev.pgapply").setLevel(debug ? Level.DEBUG : Level.INFO);
        // The driver logs every failed attempt to connect, which then is reported and retried by the engine.
        context.getLogger("org.postgresql").setLevel(debug ? Level.WARN : Level.ERROR);
        // The pool warns of its own threads when it is closed while it still connects.
        context.getLogger("com.zaxxer.hikari").setLevel(debug ? Level.INFO : Level.ERROR);
        SLF4JBridgeHandler.removeHandlersForRootLogger();
        SLF4JBridgeHandler.install();
    }

    @Override
    protected void append(ILoggingEvent event) {
        StringBuilder text = new StringBuilder(event.getFormattedMessage());
        IThrowableProxy thrown = event.getThrowableProxy();
        if (thrown != null) {
            text.append(traces ? "\n" + ThrowableProxyUtil.asString(thrown) : ": " + thrown.getMessage());
        }
        console.log(event.getInstant(), org.slf4j.event.Level.valueOf(event.getLevel().levelStr), text.toString());
    }
}
