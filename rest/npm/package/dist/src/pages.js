/**
 * Iterates over a list that is read page by page: `pages((page) => …GET("/api/v1/tasks", { params: { query: { page } } }),
 * "tasks")`. Reads a page when its first item is needed.
 */
export async function* pages(read, list) {
    for (let page = 1; page !== null;) {
        const got = await read(page);
        yield* got[list];
        page = got.next_page;
    }
}
/** Iterates over a list that is read from a cursor on, such as contacts, messages or ledger entries:
 * `after((before) => stoa.done(stoa.api.GET("/api/v1/contacts", { params: { query: { before } } })), "contacts")`. */
export async function* after(read, list) {
    for (let before;;) {
        const got = await read(before);
        yield* got[list];
        if (got.next_before === null) {
            return;
        }
        before = got.next_before;
    }
}
