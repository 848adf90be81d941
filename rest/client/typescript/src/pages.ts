/**
 * Iterates over a list that is read page by page: `pages((page) => …GET("/api/v1/tasks", { params: { query: { page } } }),
 * "tasks")`. Reads a page when its first item is needed.
 */
export async function* pages<K extends string, T>(
  read: (page: number) => Promise<Record<K, readonly T[]> & { next_page: number | null }>, list: K,
): AsyncGenerator<T, void, undefined> {
  for (let page: number | null = 1; page !== null; ) {
    const got: Record<K, readonly T[]> & { next_page: number | null } = await read(page);
    yield* got[list];
    page = got.next_page;
  }
}

/** The cursor of a list, which `after` passes to its reader: undefined at first. Its type is open, because it is a string in some
 * lists and a number in the wallet's. */
export type Cursor = any;

/** Iterates over a list that is read from a cursor on, such as contacts, messages or ledger entries:
 * `after((before) => stoa.done(stoa.api.GET("/api/v1/contacts", { params: { query: { before } } })), "contacts")`. */
export async function* after<K extends string, T>(
  read: (before: Cursor) => Promise<Record<K, readonly T[]> & { next_before: string | number | null }>, list: K,
): AsyncGenerator<T, void, undefined> {
  for (let before: Cursor; ; ) {
    const got = await read(before);
    yield* got[list];
    if (got.next_before === null) {
      return;
    }
    before = got.next_before;
  }
}
