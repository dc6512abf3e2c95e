package dev.pgapply.apply.target.postgres;

import dev.pgapply.decoder.TableName;

/// Changes that cannot be written as sets, because they do not follow from each other: they have to be applied
/// one by one, where each is looked at. Never leaves the package.
final class Doubt extends RuntimeException {

    private static final long serialVersionUID = 1;

    private final transient TableName table;

    Doubt(String reason, TableName table) {
        super(reason, null, false, false);
        this.table = table;
    }

    TableName table() {
        return table;
    }
}
