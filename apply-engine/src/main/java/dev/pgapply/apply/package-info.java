/// The engine: from a subscription's description to a target that follows its source.
@NullMarked
package dev.pgapply.apply;

import org.jspecify.annotations.NullMarked;
