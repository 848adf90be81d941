/**
 * The price of a reward for the customer, fee included. The fee is rounded to the nearest minor unit, halves upwards. @deprecated
 * A task, a response and a quote have `total_minor`.
 */
export declare function totalOf(amountMinor: number, feeBps: number): number;
