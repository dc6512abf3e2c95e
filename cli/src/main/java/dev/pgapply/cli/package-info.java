/// The command line: parses what the user says, wires the engine, prints what happens.
@NullMarked
package dev.pgapply.cli;

import org.jspecify.annotations.NullMarked;
