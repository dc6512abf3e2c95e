/// The engine itself: one attempt after the other, each from connecting over copying to streaming.
@NullMarked
package dev.pgapply.apply.engine;

import org.jspecify.annotations.NullMarked;
