/// What people see on standard error: log lines, progress, the summary at the end, and errors.
@NullMarked
package dev.pgapply.cli.output;

import org.jspecify.annotations.NullMarked;
