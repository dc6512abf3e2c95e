package dev.pgapply.cli.text;

import java.util.Collection;
import java.util.Comparator;
import java.util.Locale;

/// Finds the known word that somebody probably meant.
public final class Nearest {

    private Nearest() {}

    /// The known word with the fewest edits between it and the given one; among equals the first of the
    /// alphabet.
    ///
    /// Case and the difference between `-` and `_` do not count.
    ///
    /// @throws IllegalArgumentException if nothing is known
    public static String to(String word, Collection<String> known) {
        String wanted = folded(word);
        return known.stream()
                .min(Comparator.comparingInt((String candidate) -> edits(wanted, folded(candidate)))
                        .thenComparing(Comparator.naturalOrder()))
                .orElseThrow(() -> new IllegalArgumentException("nothing is known"));
    }

    private static String folded(String word) {
        return word.toLowerCase(Locale.ROOT).replace('_', '-');
    }

    // Insertions, deletions, replacements and swapped neighbours, each of weight one.
    private static int edits(String left, String right) {
        int[][] cost = new int[left.length() + 1][right.length() + 1];
        for (int i = 0; i <= left.length(); i++) {
            for (int j = 0; j <= right.length(); j++) {
                cost[i][j] = cheapest(left, right, i, j, cost);
            }
        }
        return cost[left.length()][right.length()];
    }

    private static int cheapest(String left, String right, int i, int j, int[][] cost) {
        if (i == 0 || j == 0) {
            return i + j;
        }
        boolean same = left.charAt(i - 1) == right.charAt(j - 1);
        int best = Math.min(cost[i - 1][j] + 1, cost[i][j - 1] + 1);
        best = Math.min(best, cost[i - 1][j - 1] + (same ? 0 : 1));
        boolean swapped = i > 1
                && j > 1
                && left.charAt(i - 1) == right.charAt(j - 2)
                && left.charAt(i - 2) == right.charAt(j - 1);
        return swapped ? Math.min(best, cost[i - 2][j - 2] + 1) : best;
    }
}
