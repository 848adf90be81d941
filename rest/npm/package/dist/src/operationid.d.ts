/**
 * The operation id that the server's tools derive from a request: a client that makes the same request again, with the same
 * expected_version, repeats it instead of doing it twice. target is the path with its query, body the rest of the request.
 */
export declare function derivedOperationId(method: string, target: string, body: Readonly<Record<string, unknown>>): string;
