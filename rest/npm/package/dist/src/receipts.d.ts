/** The keys that a program knows from elsewhere. */
export interface ReceiptTrust {
    /** The JSON Web Key Set of `/.well-known/jwks.json`. With log keys, each key must have the proof that the log announces it. */
    keys?: {
        keys: readonly object[];
    };
    /** Keys of the server's log (NAME+HASH+KEY): of several, any may have signed. Given elsewhere, or the one that a trust file keeps. */
    logKeys?: readonly string[];
    /** Witnesses (NAME+HASH+KEY) that must all have signed the head of the log. */
    witnesses?: readonly string[];
}
/** What a check finds: "valid"; "invalid", a signature or a proof is wrong; "unvouched", what can be checked fits, but none of the trusted
 * keys signed it; "unlogged", it is not in a log whose head the witnesses have signed. Of several findings it is the worst. */
export interface ReceiptFinding {
    finding: "valid" | "invalid" | "unvouched" | "unlogged";
    /** Why it is not valid, in words. */
    reason?: string;
    /** The signed payloads, unless the finding is "invalid". */
    receipt?: Record<string, unknown>;
    ratings: Record<string, unknown>[];
}
/** Checks the answer of `GET /api/v1/orders/{id}/receipt`, or of the site to the address of a rating's document; a line of an archive's
 * receipts.jsonl; or a JWS alone, a string. */
export declare function verifyReceipt(file: unknown, trust: ReceiptTrust): Promise<ReceiptFinding>;
