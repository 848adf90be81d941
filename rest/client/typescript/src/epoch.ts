import { decode, encode, equal } from "./bytes.js";
import { epochEntry, LogTree } from "./keylog.js";
import type { KeptLog } from "./trust.js";

/** A log that was begun anew and that acceptEpoch has accepted. */
export interface AcceptedEpoch {
  origin: string;
  formerOrigin: string;
  vkey: string;
  size: number;
  /** Why the operator began it anew. */
  reason: string;
  /** How many entries of the former log were seen, and how many of them the new one still has. */
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

/** What shows that a new log does not follow the former one. */
export class NotFollowing extends Error {}

/**
 * Reads the entries of a new log, with that head, in their order: the first must name the end of the log before it, whose entries follow, and
 * the kept heads of that log must be among them. Returns how many of the kept entries are left.
 */
export async function followEpoch(
  head: { size: number; root: Uint8Array }, ended: EndedEpoch, kept: KeptLog, entries: AsyncIterable<Uint8Array>,
): Promise<number> {
  const newest = kept.newest!;
  const roots = new Map([[ended.size, [ended.root]]]);
  const direct = ended.origin === newest.origin; // otherwise the epochs between are not at hand to compare with
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
