import nacl from "tweetnacl";
import { decode, encode, equal, hex, join, sha256, utf8 } from "./bytes.js";
/** A statement of a log is false, or malformed. */
export class LogError extends Error {
    code;
    constructor(code, message) {
        super(message);
        this.code = code;
        this.name = "LogError";
    }
}
const malformed = (message) => new LogError("malformed", message);
// The kinds of keys in signed notes.
export const kindOfLog = 1;
export const kindOfWitness = 4;
const hashSize = 32;
const signatureSize = 64;
/** Reads the vkey of a log or, with kindOfWitness, of a witness. */
export async function parseVkey(vkey, kind) {
    const [, name, id, encoded] = /^([!-*,-~]+)\+([0-9a-f]{8})\+(.+)$/.exec(vkey) ?? [];
    if (name === undefined || encoded === undefined) {
        throw malformed(`${vkey} is no vkey: NAME+HASH+KEY`);
    }
    const raw = decode(encoded);
    if (raw.length !== 1 + hashSize || raw[0] !== kind || (await keyId(name, raw)) !== id) {
        throw malformed(`the vkey of ${name} is of another kind, or has the hash of another key`);
    }
    return { name, id: id, kind, publicKey: raw.subarray(1) };
}
/** The vkey of a log with that origin and key. */
export async function logVkey(origin, publicKey) {
    const tagged = join(Uint8Array.of(kindOfLog), publicKey);
    return `${origin}+${await keyId(origin, tagged)}+${encode(tagged)}`;
}
async function keyId(name, tagged) {
    return hex((await sha256(utf8(`${name}\n`), tagged)).subarray(0, 4));
}
/** Reads the text of a checkpoint. It ignores lines after the third, which are extensions. */
export function parseHead(text) {
    const lines = text.split("\n");
    if (lines.length < 4 || lines[0] === "") {
        throw malformed("a checkpoint has three lines");
    }
    const root = decode(lines[2]);
    if (root.length !== hashSize) {
        throw malformed("the root of a checkpoint is no hash");
    }
    return { origin: lines[0], size: parseSize(lines[1]), root };
}
function parseSize(text) {
    const size = Number(text);
    if (!/^(0|[1-9][0-9]*)$/.test(text) || !Number.isSafeInteger(size)) {
        throw malformed(`${text} is no size of a tree`);
    }
    return size;
}
// More than any checkpoint has, in characters.
const maxNote = 65_536;
const noteOf = /^([^]*\n)\n((?:— [^ \n]+ [^ \n]+\n)+)$/;
/**
 * Checks a signed checkpoint of the log with that key. A signature by a known witness must be sound; other signatures do not
 * count. Throws a LogError "unsigned" if the log has not signed, "wrong_signature" for a signature that is not sound.
 */
export async function openCheckpoint(signed, log, witnesses = []) {
    const [, text, signatures] = (signed.length > maxNote ? null : noteOf.exec(signed)) ?? [];
    if (text === undefined || signatures === undefined) {
        throw malformed("the checkpoint is no signed note");
    }
    const by = new Map();
    let byLog = false;
    for (const line of signatures.trimEnd().split("\n")) {
        const [, name, encoded] = line.split(" ");
        const raw = decode(encoded);
        const id = hex(raw.subarray(0, 4));
        const key = [log, ...witnesses].find((known) => known.name === name && known.id === id);
        if (!key) {
            continue;
        }
        const timed = key.kind === kindOfWitness;
        const signature = raw.subarray(timed ? 12 : 4);
        const time = timed && raw.length > 12 ? Number(new DataView(raw.buffer).getBigUint64(4)) : 0;
        const said = utf8(timed ? `cosignature/v1\ntime ${time}\n${text}` : text);
        if (signature.length !== signatureSize || !nacl.sign.detached.verify(said, signature, key.publicKey)) {
            throw new LogError("wrong_signature", `the signature of ${key.name} is wrong`);
        }
        if (timed) {
            by.set(key.name, time);
        }
        else {
            byLog = true;
        }
    }
    const head = parseHead(text);
    if (!byLog || head.origin !== log.name) {
        throw new LogError("unsigned", "the checkpoint is not signed by the key of the log");
    }
    return { ...head, note: signed, by };
}
const types = { agent: 1, key: 2, receipt: 3, epoch: 4 };
/** The entry of an agent in the log of a host, whose commitment the salt opens. */
export async function agentEntry(host, salt, agent) {
    const label = await sha256(utf8(`stoa log handle 1\n${host}\n${agent.handle}`));
    const commitment = await sha256(utf8("stoa log agent 1\n"), salt, utf8([agent.id, agent.handle, agent.key, agent.created_at].map((part) => `${part}\n`).join("")));
    return join(Uint8Array.of(types.agent), label, commitment);
}
/** The entry that announces a key of the server: the log's key, or a key that signs receipts. */
export async function keyEntry(purpose, publicKey) {
    return join(Uint8Array.of(types.key), await sha256(utf8(purpose)), publicKey);
}
/** The entry of a signed document, whose commitment the salt opens. */
export async function receiptEntry(salt, jws) {
    return join(Uint8Array.of(types.receipt), new Uint8Array(hashSize), await sha256(utf8("stoa log receipt 1\n"), salt, utf8(jws)));
}
/** The first entry of a new epoch of a log: the origin and the root of the former log. */
export async function epochEntry(former, root) {
    return join(Uint8Array.of(types.epoch), await sha256(utf8(former)), root);
}
/** A Merkle tree that only grows: it keeps the hashes of its full subtrees from left to right, the largest first. */
export class LogTree {
    size = 0;
    #hashes = [];
    /** Adds an entry: one merge of full subtrees for each binary one at the end of the old size. */
    async append(entry) {
        let hash = await sha256(Uint8Array.of(0), entry);
        for (let n = this.size; n % 2 === 1; n = half(n)) {
            hash = await node(this.#hashes.pop(), hash);
        }
        this.#hashes.push(hash);
        this.size++;
    }
    async root() {
        const [...rest] = this.#hashes;
        let root = rest.pop() ?? (await sha256());
        while (rest.length > 0) {
            root = await node(rest.pop(), root);
        }
        return root;
    }
}
export function parseProof(text) {
    const end = text.indexOf("\n\n");
    const lines = text.slice(0, Math.max(end, 0)).split("\n");
    if (end < 0 || lines.shift() !== "c2sp.org/tlog-proof@v1") {
        throw malformed("it is no proof of C2SP tlog-proof");
    }
    if (lines[0]?.startsWith("extra ")) {
        lines.shift();
    }
    const index = lines.shift();
    if (!index?.startsWith("index ")) {
        throw malformed("a proof names an index");
    }
    return { index: parseSize(index.slice("index ".length)), hashes: parseHashes(lines), checkpoint: text.slice(end + 2) };
}
export function parseHashes(lines) {
    return lines.map((line) => {
        const hash = decode(line);
        if (hash.length !== hashSize) {
            throw malformed(`${line} is no hash`);
        }
        return hash;
    });
}
const node = (left, right) => sha256(Uint8Array.of(1), left, right);
const half = (n) => Math.floor(n / 2); // sizes may be above 2^32, so no shifts
/** Throws a LogError "not_included" unless the hashes show that the entry has that index in the tree of a head. */
export async function checkIncluded(head, index, entry, hashes) {
    const wrong = new LogError("not_included", "the proof does not show this entry in the log");
    if (index >= head.size) {
        throw wrong;
    }
    let [at, last, hash] = [index, head.size - 1, await sha256(Uint8Array.of(0), entry)];
    for (const beside of hashes) {
        if (last === 0) {
            throw wrong;
        }
        if (at % 2 === 1 || at === last) {
            hash = await node(beside, hash);
            while (at % 2 === 0 && at !== 0) {
                [at, last] = [half(at), half(last)];
            }
        }
        else {
            hash = await node(hash, beside);
        }
        [at, last] = [half(at), half(last)];
    }
    if (last !== 0 || !equal(hash, head.root)) {
        throw wrong;
    }
}
/** Throws a LogError "inconsistent" unless a newer head continues an older one of the same origin. */
export async function checkConsistent(older, newer, hashes) {
    const wrong = new LogError("inconsistent", "one head of the log does not continue the other");
    if (older.origin !== newer.origin || newer.size < older.size || (older.size === newer.size && !equal(older.root, newer.root))) {
        throw wrong;
    }
    if (older.size === 0 || older.size === newer.size) {
        return;
    }
    let [at, last] = [older.size - 1, newer.size - 1];
    while (at % 2 === 1) {
        [at, last] = [half(at), half(last)];
    }
    const path = at === 0 ? [older.root, ...hashes] : hashes; // a full tree is the first hash itself
    const first = path[0];
    if (!first) {
        throw wrong;
    }
    let [before, after] = [first, first];
    for (const beside of path.slice(1)) {
        if (last === 0) {
            throw wrong;
        }
        if (at % 2 === 1 || at === last) {
            [before, after] = [await node(beside, before), await node(beside, after)];
            while (at % 2 === 0 && at !== 0) {
                [at, last] = [half(at), half(last)];
            }
        }
        else {
            after = await node(after, beside);
        }
        [at, last] = [half(at), half(last)];
    }
    if (last !== 0 || !equal(before, older.root) || !equal(after, newer.root)) {
        throw wrong;
    }
}
const tileWidth = 256;
const entrySize = 65;
/** The path of a tile of entries below the log's path, and its number of entries, in a log of that size. */
export function entriesTile(n, size) {
    const width = Math.min(tileWidth, size - n * tileWidth);
    let path = String(n % 1000).padStart(3, "0");
    for (let rest = Math.floor(n / 1000); rest > 0; rest = Math.floor(rest / 1000)) {
        path = `x${String(rest % 1000).padStart(3, "0")}/${path}`;
    }
    return { path: `tile/entries/${path}${width < tileWidth ? `.p/${width}` : ""}`, width };
}
/** The entries of a tile. */
export function parseEntries(tile) {
    const entries = [];
    for (let at = 0; at < tile.length; at += 2 + entrySize) {
        const entry = tile.subarray(at + 2, at + 2 + entrySize);
        if (tile[at] !== 0 || tile[at + 1] !== entrySize || entry.length !== entrySize) {
            throw malformed("the tile of entries is cut off");
        }
        entries.push(entry);
    }
    return entries;
}
/** The host and the epoch of an origin. */
export function hostOf(origin) {
    const [, host, epoch] = /^([^/]+)\/log\/([1-9][0-9]{0,8})$/.exec(origin) ?? [];
    if (host === undefined) {
        throw malformed(`${origin} is no origin of a key log`);
    }
    return { host, epoch: Number(epoch) };
}
