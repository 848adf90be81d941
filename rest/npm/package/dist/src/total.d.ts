/**
 * What a customer pays for a reward, fee included: `totalOf(response.amount_minor, task.fee_bps)` is the total that `select`
 * confirms. The fee is rounded to the nearest minor unit, half of one upwards.
 */
export declare function totalOf(amountMinor: number, feeBps: number): number;
