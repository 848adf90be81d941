/**
 * The price of a reward for the customer, fee included: `totalOf(response.amount_minor, task.fee_bps)` is the total that `select`
 * confirms. The fee is rounded to the nearest minor unit, half of one upwards.
 */
export function totalOf(amountMinor: number, feeBps: number): number {
  const amount = BigInt(amountMinor);
  return Number(amount + (amount * BigInt(feeBps) + 5000n) / 10_000n);
}
