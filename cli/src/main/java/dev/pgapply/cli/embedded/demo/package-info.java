/// The demo: a shop on two real servers, replicated under load, with a crash in the middle and a comparison at
/// the end.
@NullMarked
package dev.pgapply.cli.embedded.demo;

import org.jspecify.annotations.NullMarked;
