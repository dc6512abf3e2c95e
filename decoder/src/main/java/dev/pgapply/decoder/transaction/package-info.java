/// From messages to one stream of committed changes: whatever way the source sent a transaction can no longer
/// be seen.
///
/// ```
/// B … C, b … P      ─────────────────────────────────────▶  Begin · changes · Commit or Prepare
/// S … E, S … E, …   ──▶ spool ── c or p: replay ──────────▶       (the same)
///                        ▲  A: cut from the first change of the subtransaction, or remove
/// K, r              ─────────────────────────────────────▶  CommitPrepared, RollbackPrepared
/// ```
@NullMarked
package dev.pgapply.decoder.transaction;

import org.jspecify.annotations.NullMarked;
