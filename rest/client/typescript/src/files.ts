import { TrustError } from "./bind.js";
import { hex, sha256 } from "./bytes.js";
import type { components } from "./description.js";
import { Fault } from "./fault.js";
import { derivedOperationId } from "./operationid.js";
import type { Purpose } from "./records.js";
import { type Answer, type Replayable, Requests } from "./requests.js";

type Attachment = components["schemas"]["Attachment"];

const uploads = "/api/v1/attachments";

/** Files, and changes that name files. */
export class Files extends Requests {
  /** Whether `upload` makes a new file if the same file is in use, for programs that make changes without this client. */
  renewsBound = false;
  // Uploads the bytes of a repeated upload once more, by the id of its file, which may be bound to something by now.
  readonly #next = new Map<string, () => Promise<Attachment>>();

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
  async upload(
    bytes: Uint8Array | ArrayBuffer | Blob, purpose: Purpose, name: string, uploadId?: string,
  ): Promise<Replayable<Attachment>> {
    if (typeof bytes !== "object") {
      throw new TypeError(`upload needs the bytes of ${name}, as readFile returns them, and not a ${typeof bytes}`);
    }
    if (typeof name !== "string") {
      throw new TypeError('upload needs the name of the file as its third argument, such as "report.pdf"');
    }
    return this.#upload(bytes instanceof Blob ? bytes : new Blob([bytes as BlobPart]), purpose, name, uploadId, 0);
  }

  async #upload(
    file: Blob, purpose: Purpose, name: string, uploadId: string | undefined, copy: number,
  ): Promise<Replayable<Attachment>> {
    const form = new FormData();
    form.set("purpose", purpose);
    form.set("upload_id", uploadId ?? (await derivedUploadId(file, purpose, name, copy)));
    form.set("file", file, name);
    const answer = await this.api.POST(uploads, { body: form as never, bodySerializer: (form: unknown) => form as FormData });
    const { body, replayed } = await this.result(Promise.resolve(answer));
    if (replayed && uploadId === undefined) {
      const next = () => this.#upload(file, purpose, name, undefined, copy + 1);
      const bound = this.renewsBound && answer.response.headers.has("Attachment-Bound");
      if (bound || !body.attachment.available) { // its bytes are gone
        return next();
      }
      this.#next.set(body.attachment.id, next);
    }
    return { ...body.attachment, replayed };
  }

  /** The bytes of a file, by its record or id. Throws a TrustError if they do not match the SHA-256 of the record. */
  async download(file: string | Pick<Attachment, "id" | "sha256">): Promise<Uint8Array> {
    const { id, sha256: sum } = typeof file === "string" ? { id: file, sha256: null } : file;
    const buffer = await this.done(this.api.GET("/api/v1/attachments/{attachment_id}/download", {
      params: { path: { attachment_id: id } }, parseAs: "arrayBuffer",
    }) as unknown as Answer<ArrayBuffer>);
    if (sum !== null && crypto.subtle && hex(await sha256(new Uint8Array(buffer))) !== sum) {
      throw new TrustError("altered", "the server returned other bytes than its record of the file says");
    }
    return new Uint8Array(buffer);
  }

  /** Posts a change with an operation_id, derived from the rest unless given. */
  protected async change<T>(path: string, change: object): Promise<{ body: T; replayed: boolean }> {
    const { operation_id: given, ...body } = change as Record<string, unknown>;
    const sent = { ...body, operation_id: given ?? derivedOperationId("POST", path, body) };
    try {
      const answer = await this.result(this.api.POST(path as "/api/v1/orders", { body: sent as never }) as unknown as Answer<T>);
      Object.values(body).flat().forEach((id) => this.#next.delete(id as string)); // they are bound to this change
      return answer;
    } catch (error) {
      const unbound = error instanceof Fault && error.code === "attachment_already_bound" ? await this.#unbound(body) : undefined;
      if (!unbound) {
        throw error;
      }
      return this.change(path, { ...unbound, operation_id: given }); // no refusal is stored under an operation_id
    }
  }

  // The change with a new upload in place of each file that was uploaded before; undefined if it names no such file.
  async #unbound(body: Record<string, unknown>): Promise<Record<string, unknown> | undefined> {
    let renewed = false;
    const unbound: Record<string, unknown> = {};
    for (const [name, value] of Object.entries(body)) {
      unbound[name] = !Array.isArray(value) ? value : await Promise.all(value.map(async (id: string) => {
        const next = this.#next.get(id);
        renewed = this.#next.delete(id) || renewed;
        return next ? (await next()).id : id;
      }));
    }
    return renewed ? unbound : undefined;
  }
}

/**
 * The upload id that the server's tools derive from a file; copy counts further uploads of it. It is random if the runtime has no
 * SHA-256, as on pages without TLS.
 */
async function derivedUploadId(file: Blob, purpose: string, name: string, copy: number): Promise<string> {
  if (!crypto.subtle) {
    return crypto.randomUUID();
  }
  const about = { purpose, file_name: name, sha256: hex(await sha256(new Uint8Array(await file.arrayBuffer()))) };
  return derivedOperationId("POST", uploads, copy === 0 ? about : { ...about, copy });
}
