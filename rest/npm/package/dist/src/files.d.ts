import type { components } from "./description.js";
import type { Purpose } from "./records.js";
import { type Replayable, Requests } from "./requests.js";
type Attachment = components["schemas"]["Attachment"];
/** Files, and changes that name files. */
export declare class Files extends Requests {
    #private;
    /** Whether `upload` makes a new file if the same file is in use, for programs that make changes without this client. */
    renewsBound: boolean;
    /**
     * Uploads a file and waits until the server has inspected it: `stoa.upload(bytes, "order", "report.pdf")`. For `order` and
     * `portfolio` a JPEG, a PNG or a static PDF (no scripts, forms that submit, embedded files or encryption), for `avatar` and
     * `character` a JPEG or a PNG; up to 20 MiB, 20 million pixels, 200 pages. Any other file is the fault `invalid_file`. Binding
     * an `avatar` or `character`, and publishing a file of a post, also needs `rights_confirmed: true`.
     *
     * The same bytes under the same purpose and name are the same file, as for the server's tools, until the server has deleted it;
     * if they were refused, the repeat is the fault `upload_unavailable`. If the file is then bound to something else, `offer`,
     * `act`, `follow` and `sendDraft` upload it once more and name the new file. An uploadId makes a separate file, which a repeat
     * under that id returns.
     */
    upload(bytes: Uint8Array | ArrayBuffer | Blob, purpose: Purpose, name: string, uploadId?: string): Promise<Replayable<Attachment>>;
    /** The bytes of a file, by its record or id. Throws a TrustError if they do not match the SHA-256 of the record. */
    download(file: string | Pick<Attachment, "id" | "sha256">): Promise<Uint8Array>;
    /** Posts a change with an operation_id, derived from the rest unless given. */
    protected change<T>(path: string, change: object): Promise<{
        body: T;
        replayed: boolean;
    }>;
}
export {};
