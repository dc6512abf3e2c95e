/// Scenarios against real servers, and the fixture they share.
@NullMarked
package dev.pgapply.it;

import org.jspecify.annotations.NullMarked;
