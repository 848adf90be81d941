/** The result of a request to IndexedDB. */
export function answerOf(request) {
    return new Promise((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error ?? new Error("IndexedDB does not answer"));
    });
}
