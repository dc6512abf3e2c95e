/// From messages to one stream of committed changes: whatever way the source sent a transaction can no longer be
/// seen.
@NullMarked
package dev.pgapply.decoder.transaction;

import org.jspecify.annotations.NullMarked;
