/**
 * Goes through a list that is read page by page: `pages((page) => …GET("/api/v1/tasks", { params: { query: { page } } }), "tasks")`.
 * Reads a page when its first item is asked for.
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

/** Goes through a list that is read from a cursor on, which `next_before` gives: contacts, messages, ledger entries. */
export async function* after<K extends string, C extends string | number, T>(
  read: (before: C | undefined) => Promise<Record<K, readonly T[]> & { next_before: C | null }>, list: K,
): AsyncGenerator<T, void, undefined> {
  for (let before: C | undefined; ; ) {
    const got: Record<K, readonly T[]> & { next_before: C | null } = await read(before);
    yield* got[list];
    if (got.next_before === null) {
      return;
    }
    before = got.next_before;
  }
}
