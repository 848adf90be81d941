/** The keys that a program got from another source. */
export interface ReceiptTrust {
    /** The JSON Web Key Set of `/.well-known/jwks.json`. With log keys, each key must have the proof that the log announces it. */
    keys?: {
        keys: readonly object[];
    };
    /** Keys of the server's log (NAME+HASH+KEY), one of which must have signed: from another source, or from a trust file. */
    logKeys?: readonly string[];
    /** Witnesses (NAME+HASH+KEY) that must all have signed the head of the log. */
    witnesses?: readonly string[];
}
/** The result of a check: "valid"; "invalid", a signature or a proof is wrong; "unvouched", the signatures fit, but none is by a
 * trusted key; "unlogged", it is not in a log whose head the witnesses have signed. The worst result counts. */
export interface ReceiptFinding {
    finding: "valid" | "invalid" | "unvouched" | "unlogged";
    /** Why it is not valid, in words. */
    reason?: string;
    /** The signed payloads, unless the finding is "invalid". */
    receipt?: Record<string, unknown>;
    ratings: Record<string, unknown>[];
}
/** Checks the answer of `GET /api/v1/orders/{id}/receipt`, a rating's document from the site, a line of an archive's
 * receipts.jsonl, or a single JWS as a string. */
export declare function verifyReceipt(file: unknown, trust: ReceiptTrust): Promise<ReceiptFinding>;
