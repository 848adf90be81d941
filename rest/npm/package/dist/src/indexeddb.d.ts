/** The result of a request to IndexedDB. */
export declare function answerOf<T>(request: IDBRequest<T>): Promise<T>;
