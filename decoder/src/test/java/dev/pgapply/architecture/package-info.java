/// Rules that the classes of every module keep.
@NullMarked
package dev.pgapply.architecture;

import org.jspecify.annotations.NullMarked;
