/// Which conflict is it, and what is done about it: decisions alone, without JDBC, clock or log.
@NullMarked
package dev.pgapply.conflict;

import org.jspecify.annotations.NullMarked;
