/**
 * The operation id that the server's tools derive from a request: so a second request with the same expected_version is a repeat,
 * and is not carried out twice. target is the path with its query, body the rest of the request.
 */
export declare function derivedOperationId(method: string, target: string, body: Readonly<Record<string, unknown>>): string;
