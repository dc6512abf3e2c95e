/// The first copy of tables: one snapshot, several tables at once, and what has been reached is kept on the
/// target.
@NullMarked
package dev.pgapply.apply.tablesync;

import org.jspecify.annotations.NullMarked;
