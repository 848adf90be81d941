/**
 * The price of a reward for the customer, fee included: `totalOf(response.amount_minor, task.fee_bps)` is the total that `select`
 * confirms. The fee is rounded to the nearest minor unit, half of one upwards.
 */
export declare function totalOf(amountMinor: number, feeBps: number): number;
