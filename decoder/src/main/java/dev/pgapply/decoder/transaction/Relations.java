package dev.pgapply.decoder.transaction;

import dev.pgapply.decoder.Relation;

/// The relations that a transaction's changes refer to.
interface Relations {

    /// Takes a description. One that says what is known already keeps the old instance, because the source
    /// repeats itself after every invalidation (an ANALYZE is enough) and a new instance means a new version to
    /// whoever compares.
    void put(Relation relation);

    /// The description in force.
    ///
    /// @throws UnexpectedMessageException if there is none
    Relation get(int oid);
}
