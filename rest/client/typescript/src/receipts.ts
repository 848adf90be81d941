import nacl from "tweetnacl";

// Checks receipts and the documents of ratings without their server. A program decides which keys to trust: keys inside a file show
// only that the file fits them.

/** The keys that a program knows from elsewhere. */
export interface ReceiptTrust {
  /** The JSON Web Key Set of `/.well-known/jwks.json`. With log keys, each key must have the proof that the log announces it. */
  keys?: { keys: readonly object[] };
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

interface SignedDocument {
  jws: string;
  salt: string;
  index: number | null;
  proof: string | null;
}

type Problem = { finding: "invalid" | "unvouched" | "unlogged"; reason: string };

const encoder = new TextEncoder();

/** Checks the answer of `GET /api/v1/orders/{id}/receipt`, or of the site to the address of a rating's document. */
export async function verifyReceipt(file: unknown, trust: ReceiptTrust): Promise<ReceiptFinding> {
  const problems: Problem[] = [];
  const found: ReceiptFinding = { finding: "valid", ratings: [] };
  const checks = { trusted: await keysOf(trust.keys), own: new Map<string, ReceiptKey>(), logs: (trust.logKeys ?? []).map((key) =>
    vkey(key, 1)), witnesses: (trust.witnesses ?? []).map((key) => vkey(key, 4)), problems };
  try {
    const { receipt, rating, jwks } = members(file);
    checks.own = await keysOf(jwks).catch(() => checks.own);
    if (receipt !== undefined && receipt !== null) {
      const card = members(receipt);
      const said = await open(card, "stoa-receipt+jwt", checks);
      if (said["v"] !== 1 || said["jti"] !== card["id"] || said["sub"] !== card["order_id"] || typeof said["jti"] !== "string") {
        throw new Error("the signed receipt is of another order, receipt or version");
      }
      found.receipt = said;
      for (const one of card["ratings"] as unknown[] ?? []) {
        found.ratings.push(ofReceipt(await openRating(members(one), checks), said));
      }
    } else if (rating !== undefined && rating !== null) {
      found.ratings.push(await openRating(members(rating), checks));
    } else {
      throw new Error("the file has neither receipt nor rating");
    }
  } catch (error) {
    return { finding: "invalid", reason: error instanceof Error ? error.message : String(error), ratings: [] };
  }
  const worst = problems.find((p) => p.finding === "unvouched") ?? problems[0];
  return { ...found, ...worst };
}

/** A key that signs receipts, and the proof that the log announces it. */
interface ReceiptKey {
  raw: Uint8Array;
  index: number | null;
  proof: string | null;
}

interface Checks {
  trusted: Map<string, ReceiptKey>;
  own: Map<string, ReceiptKey>;
  logs: NoteKey[];
  witnesses: NoteKey[];
  problems: Problem[];
}

async function openRating(document: Record<string, unknown>, checks: Checks): Promise<Record<string, unknown>> {
  const said = await open(document, "stoa-rating+jwt", checks);
  const stars = said["stars"];
  if (said["v"] !== 1 || typeof said["jti"] !== "string" || !Number.isInteger(stars) || Number(stars) < 1 || Number(stars) > 5) {
    throw new Error("the document is no rating");
  }
  return said;
}

/** Returns a rating if it is one of a receipt's order, by one of its participants of the other. The log may have begun anew between
 * the two. */
function ofReceipt(rating: Record<string, unknown>, receipt: Record<string, unknown>): Record<string, unknown> {
  const [customer, contractor] = [members(receipt["customer"])["id"], members(receipt["contractor"])["id"]];
  const { author_id: author, subject_id: subject } = rating;
  const parties = (author === customer && subject === contractor) || (author === contractor && subject === customer);
  const host = hostOf(String(receipt["iss"]));
  const issued = host !== undefined && hostOf(String(rating["iss"])) === host;
  if (!parties || !issued || rating["sub"] !== receipt["sub"] || rating["receipt"] !== receipt["jti"]) {
    throw new Error("a rating is not of this receipt");
  }
  return rating;
}

/** Checks signature and proof of a document, and returns its payload. Throws if it is invalid. */
async function open(document: Record<string, unknown>, kind: string, checks: Checks): Promise<Record<string, unknown>> {
  const { jws, salt, index, proof } = document as unknown as SignedDocument;
  const parts = String(jws).split(".");
  const [head, body, signature] = parts.map(base64url);
  if (parts.length !== 3 || !head || !body || !signature) {
    throw new Error("a JWS has three parts");
  }
  const header = members(json(head));
  if (header["typ"] !== kind || !["EdDSA", "Ed25519"].includes(String(header["alg"])) || header["crit"] !== undefined) {
    throw new Error("the header is not that of a " + kind);
  }
  const id = String(header["kid"]);
  const trusted = checks.trusted.get(id);
  if (!trusted) {
    checks.problems.push({ finding: "unvouched", reason: `its key ${id} is none of yours` });
  }
  const key = trusted ?? checks.own.get(id);
  if (key && !signedBy(encoder.encode(`${parts[0]}.${parts[1]}`), signature, key.raw)) {
    throw new Error("the signature is wrong");
  }
  const payload = members(json(body));
  const issuer = String(payload["iss"]);
  const problem = index === null || proof === null ?
    { finding: "unlogged" as const, reason: "the file has no proof; fetch it again later" } :
    await included(await documentLeaf(base64(salt), jws), proof, index, issuer, checks);
  for (const one of [trusted && await announced(id, trusted, issuer, checks), problem]) {
    if (one) {
      checks.problems.push(one);
    }
  }
  return payload;
}

/** Checks that the log of an issuer announces a key that signed: a server that names a key for one reader alone has it in no log. Without
 * a trusted log key there is nothing to check by, and the document itself is not vouched for. */
async function announced(id: string, key: ReceiptKey, issuer: string, checks: Checks): Promise<Problem | undefined> {
  if (checks.logs.length === 0) {
    return undefined;
  }
  let why = "the key set has no proof";
  if (key.index !== null && key.proof !== null) {
    try {
      const problem = await included(await keyLeaf(key.raw), key.proof, key.index, issuer, checks);
      if (problem?.finding !== "unvouched") {
        return problem;
      }
      why = problem.reason;
    } catch (error) {
      why = error instanceof Error ? error.message : String(error);
    }
  }
  return { finding: "unvouched", reason: `the key log does not prove its key ${id}: ${why}` };
}

/** The hash of a document's entry in the log. */
async function documentLeaf(salt: Uint8Array, jws: string): Promise<Uint8Array> {
  if (salt.length !== 16) {
    throw new Error("the proof is of another entry");
  }
  const commitment = await sha256(encoder.encode("stoa log receipt 1\n"), salt, encoder.encode(jws));
  return sha256(Uint8Array.of(0, 3), new Uint8Array(32), commitment);
}

/** The hash of the entry in the log that announces a key. */
async function keyLeaf(key: Uint8Array): Promise<Uint8Array> {
  return sha256(Uint8Array.of(0, 2), await sha256(encoder.encode("receipts")), key);
}

/** Checks that an entry, by its hash, is in the log of an issuer. Throws if the proof is wrong. */
async function included(leaf: Uint8Array, proof: string, index: number, issuer: string, checks: Checks): Promise<Problem | undefined> {
  const split = proof.indexOf("\n\n");
  const [first, ...lines] = proof.slice(0, Math.max(split, 0)).split("\n");
  if (lines[0]?.startsWith("extra ")) {
    lines.shift();
  }
  if (first !== "c2sp.org/tlog-proof@v1" || lines.shift() !== `index ${index}` || lines.length > 128) {
    throw new Error("the proof is of another entry");
  }
  const checkpoint = proof.slice(split + 2);
  const text = checkpoint.slice(0, checkpoint.indexOf("\n\n") + 1);
  const [origin, size, root] = text.split("\n");
  if (!origin || !size || !root || !/^(0|[1-9][0-9]{0,15})$/.test(size) || hostOf(origin) === undefined || hostOf(origin) !== hostOf(issuer)) {
    throw new Error("the proof is not of the log of " + issuer);
  }
  if (!equal(await rootOf(leaf, index, Number(size), lines.map(base64)), base64(root))) {
    throw new Error("the proof does not show this entry in the log");
  }
  const signatures = noteSignatures(checkpoint.slice(text.length + 1));
  const by = await Promise.all([...checks.logs, ...checks.witnesses].map((key) => signedNote(key, text, signatures)));
  if (!checks.logs.some((log, i) => by[i] && log.name === origin)) {
    return { finding: "unvouched", reason: `the head of the log ${origin} has no signature by a log key of yours` };
  }
  const missing = checks.witnesses.find((_, i) => !by[checks.logs.length + i]);
  return missing && { finding: "unlogged", reason: `the witness ${missing.name} has not signed the head of the log` };
}

/** The root of a tree of a size in which the path from a leaf leads to it (RFC 9162, 2.1.3.2). */
async function rootOf(leaf: Uint8Array, index: number, size: number, path: Uint8Array[]): Promise<Uint8Array> {
  if (!Number.isSafeInteger(index) || index < 0 || index >= size) {
    throw new Error("the entry is beyond the head of the log");
  }
  let [at, last, hash] = [index, size - 1, leaf];
  const half = (n: number) => Math.floor(n / 2); // numbers may have more than 32 bits
  for (const beside of path) {
    if (last === 0 || beside.length !== 32) {
      throw new Error("the proof is too long");
    }
    if (at % 2 === 1 || at === last) {
      hash = await sha256(Uint8Array.of(1), beside, hash);
      while (at % 2 === 0 && at !== 0) {
        [at, last] = [half(at), half(last)];
      }
    } else {
      hash = await sha256(Uint8Array.of(1), hash, beside);
    }
    [at, last] = [half(at), half(last)];
  }
  if (last !== 0) {
    throw new Error("the proof is too short");
  }
  return hash;
}

interface NoteKey {
  name: string;
  raw: Uint8Array;
}

/** Reads a key of a signed note: 1 is the kind of logs, 4 that of witnesses. */
function vkey(text: string, kind: number): NoteKey {
  const at = text.split("+", 2).join("+").length;
  const [name, hash, raw] = [text.split("+")[0] ?? "", text.split("+")[1] ?? "", base64(text.slice(at + 1))];
  if (!name || !/^[0-9a-f]{8}$/.test(hash) || raw.length !== 33 || raw[0] !== kind) {
    throw new Error(`"${text}" is no key of a ${kind === 1 ? "log" : "witness"}: NAME+HASH+KEY`);
  }
  return { name, raw };
}

interface NoteSignature {
  name: string;
  raw: Uint8Array;
}

function noteSignatures(lines: string): NoteSignature[] {
  if (!lines.endsWith("\n")) {
    throw new Error("the checkpoint is cut off");
  }
  return lines.slice(0, -1).split("\n").map((line) => {
    const [dash, name, encoded, ...more] = line.split(" ");
    if (dash !== "—" || !name || !encoded || more.length > 0) {
      throw new Error("a signature of the checkpoint cannot be read");
    }
    return { name, raw: base64(encoded) };
  });
}

/** Whether a key has signed a note. Throws if a signature with its name and hash is wrong. */
async function signedNote(key: NoteKey, text: string, signatures: NoteSignature[]): Promise<boolean> {
  const hash = (await sha256(encoder.encode(key.name + "\n"), key.raw)).subarray(0, 4);
  const own = signatures.find((s) => s.name === key.name && equal(s.raw.subarray(0, 4), hash));
  if (!own) {
    return false;
  }
  let [signed, signature] = [text, own.raw.subarray(4)];
  if (key.raw[0] === 4) {
    const time = new DataView(signature.buffer, signature.byteOffset, signature.byteLength).getBigUint64(0);
    [signed, signature] = [`cosignature/v1\ntime ${time}\n${text}`, signature.subarray(8)];
  }
  if (!signedBy(encoder.encode(signed), signature, key.raw.subarray(1))) {
    throw new Error(`the signature of ${key.name} is wrong`);
  }
  return true;
}

/** The keys of a JSON Web Key Set by their thumbprints (RFC 7638). */
async function keysOf(set: unknown): Promise<Map<string, ReceiptKey>> {
  const keys = new Map<string, ReceiptKey>();
  for (const one of (set === undefined || set === null ? [] : members(set)["keys"] as unknown[])) {
    const { kty, crv, x, log_index: index, log_proof: proof } = members(one);
    if (kty !== "OKP" || crv !== "Ed25519" || typeof x !== "string") {
      continue;
    }
    const thumbprint = await sha256(encoder.encode(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`));
    const id = btoa(String.fromCharCode(...thumbprint)).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
    keys.set(id, {
      raw: base64url(x), index: typeof index === "number" ? index : null, proof: typeof proof === "string" ? proof : null,
    });
  }
  return keys;
}

/** The host of a log's origin, in any epoch. */
function hostOf(origin: string): string | undefined {
  return /^([^/]+)\/log\/[1-9][0-9]*$/.exec(origin)?.[1];
}

function members(value: unknown): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new Error("it is no JSON of a receipt");
  }
  return value as Record<string, unknown>;
}

function json(raw: Uint8Array): unknown {
  return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(raw));
}

function signedBy(text: Uint8Array, signature: Uint8Array, key: Uint8Array): boolean {
  return signature.length === 64 && key.length === 32 && nacl.sign.detached.verify(text, signature, key);
}

/** Decodes padded base64. Only one text stands for each sequence of bytes. */
function base64(text: string): Uint8Array {
  const raw = atob(text);
  if (btoa(raw) !== text) {
    throw new Error(`"${text}" is no base64`);
  }
  return Uint8Array.from(raw, (c) => c.charCodeAt(0));
}

function base64url(text: string): Uint8Array {
  if (/[^A-Za-z0-9_-]/.test(text)) {
    throw new Error("a part of the JWS is no base64url");
  }
  return base64(text.replaceAll("-", "+").replaceAll("_", "/") + "=".repeat((4 - text.length % 4) % 4));
}

async function sha256(...parts: Uint8Array[]): Promise<Uint8Array> {
  const all = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  parts.reduce((at, part) => {
    all.set(part, at);
    return at + part.length;
  }, 0);
  return new Uint8Array(await crypto.subtle.digest("SHA-256", all));
}

function equal(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, i) => byte === other[i]);
}
