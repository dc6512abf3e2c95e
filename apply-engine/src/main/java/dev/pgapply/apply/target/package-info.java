/// What the engine asks of a target, whatever its kind.
@NullMarked
package dev.pgapply.apply.target;

import org.jspecify.annotations.NullMarked;
