package dev.pgapply.apply.target;

import dev.pgapply.decoder.TableName;

/// A value came in binary form that means something else on the target: the stream has to be opened again in
/// text, from the progress. Nothing of the group at hand is committed.
public final class TextFormatNeeded extends RuntimeException {

    private final TableName table;

    public TextFormatNeeded(TableName table, String column) {
        super("column " + column + " of table " + table + " cannot travel in binary form");
        this.table = table;
    }

    public TableName table() {
        return table;
    }
}
