package dev.pgapply.decoder.transaction;

import java.util.function.BooleanSupplier;

/// Which transactions are told of while they are open ([OpenTransaction]).
///
/// @param most how many at once
/// @param allowed asked when one begins that there would be room for
public record EarlyDelivery(int most, BooleanSupplier allowed) {

    public static final EarlyDelivery NONE = new EarlyDelivery(0, () -> false);
}
