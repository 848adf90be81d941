import { decode, encode, equal } from "./bytes.js";
import { epochEntry, LogTree } from "./keylog.js";
import type { KeptLog } from "./trust.js";

/** The new epoch of a log, after acceptEpoch has accepted it. */
export interface AcceptedEpoch {
  origin: string;
  formerOrigin: string;
  vkey: string;
  size: number;
  /** The operator's reason for the new epoch. */
  reason: string;
  /** The number of entries of the former log that were seen, and the number of these that the new log still has. */
  kept: number;
  left: number;
}

/** A log that has ended, as the server publishes it. */
export interface EndedEpoch {
  origin: string;
  size: number;
  root: string;
  reason: string;
}

/** Thrown if a new log does not follow the former one. */
export class NotFollowing extends Error {}

/**
 * Reads the entries of a new log with that head in order: the first must name the end of the former log, whose entries follow and
 * must agree with the kept heads. Returns the number of kept entries that are left.
 */
export async function followEpoch(
  head: { size: number; root: Uint8Array }, ended: EndedEpoch, kept: KeptLog, entries: AsyncIterable<Uint8Array>,
): Promise<number> {
  const newest = kept.newest!;
  const roots = new Map([[ended.size, [ended.root]]]);
  const direct = ended.origin === newest.origin; // otherwise the epochs between cannot be compared
  for (const { size, root } of direct ? kept.open : []) {
    if (size <= ended.size) {
      roots.set(size, [...(roots.get(size) ?? []), root]);
    }
  }
  const first = await epochEntry(ended.origin, decode(ended.root));
  const [whole, before] = [new LogTree(), new LogTree()];
  for await (const entry of entries) {
    await whole.append(entry);
    if (whole.size === 1) {
      if (!equal(entry, first)) {
        throw new NotFollowing("the new log does not begin with the end of the former one");
      }
      continue;
    }
    await before.append(entry);
    const wanted = roots.get(before.size);
    const root = wanted && encode(await before.root());
    if (wanted?.some((one) => one !== root)) {
      throw new NotFollowing(`the new log does not have the former one's ${before.size} entries`);
    }
  }
  if (whole.size !== head.size || whole.size <= ended.size || !equal(await whole.root(), head.root)) {
    throw new NotFollowing("the entries of the new log do not make the head that the server has signed");
  }
  return direct ? Math.min(newest.size, ended.size) : 0;
}
