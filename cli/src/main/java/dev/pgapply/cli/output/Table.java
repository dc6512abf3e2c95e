package dev.pgapply.cli.output;

import java.util.ArrayList;
import java.util.List;

/// Rows of words in aligned columns: the first column to the left, the others to the right.
final class Table {

    private static final String GAP = "   ";

    private final List<List<String>> rows = new ArrayList<>();

    Table row(String... cells) {
        rows.add(List.of(cells));
        return this;
    }

    /// The lines, each indented by two blanks.
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        for (List<String> row : rows) {
            StringBuilder line = new StringBuilder(" ");
            for (int column = 0; column < row.size(); column++) {
                String cell = row.get(column);
                String padding = " ".repeat(width(column) - cell.length());
                line.append(column == 0 ? " " + cell + padding : GAP + padding + cell);
            }
            text.append(text.isEmpty() ? "" : "\n").append(line.toString().stripTrailing());
        }
        return text.toString();
    }

    private int width(int column) {
        return rows.stream()
                .filter(row -> row.size() > column)
                .mapToInt(row -> row.get(column).length())
                .max()
                .orElse(0);
    }
}
