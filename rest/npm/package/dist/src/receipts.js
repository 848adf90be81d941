import nacl from "tweetnacl";
import { decode, decodeUrl, encodeUrl, sha256, utf8 } from "./bytes.js";
import { checkIncluded, hostOf, keyEntry, kindOfLog, kindOfWitness, LogError, openCheckpoint, parseHead, parseProof, parseVkey, receiptEntry, } from "./keylog.js";
/** Checks the answer of `GET /api/v1/orders/{id}/receipt`, a rating's document from the site, a line of an archive's
 * receipts.jsonl, or a single JWS as a string. */
export async function verifyReceipt(file, trust) {
    const problems = [];
    const found = { finding: "valid", ratings: [] };
    const vkeys = (given = [], kind) => Promise.all(given.map((vkey) => parseVkey(vkey, kind)));
    const checks = {
        trusted: await keysOf(trust.keys), own: new Map(), logs: await vkeys(trust.logKeys, kindOfLog),
        witnesses: await vkeys(trust.witnesses, kindOfWitness), problems,
    };
    try {
        const alone = typeof file === "string"; // nothing beside it names the receipt
        const whole = alone ? { jws: file.trim() } : members(file);
        const { rating, jwks } = whole;
        const receipt = whole["receipt"] ?? (rating ? undefined : whole);
        checks.own = await keysOf(jwks).catch(() => checks.own);
        if (receipt) {
            const card = members(receipt);
            if (!card["jws"]) {
                throw new Error("the file has neither receipt nor rating");
            }
            const said = await open(card, "stoa-receipt+jwt", checks);
            const named = alone || (said["jti"] === card["id"] && said["sub"] === card["order_id"]);
            if (said["v"] !== 1 || !named || typeof said["jti"] !== "string") {
                throw new Error("the signed receipt is of another order, receipt or version");
            }
            found.receipt = said;
            for (const one of card["ratings"] ?? []) {
                found.ratings.push(ofReceipt(await openRating(members(one), checks), said));
            }
        }
        else {
            found.ratings.push(await openRating(members(rating), checks));
        }
    }
    catch (error) {
        return { finding: "invalid", reason: error instanceof Error ? error.message : String(error), ratings: [] };
    }
    const worst = problems.find((p) => p.finding === "unvouched") ?? problems[0];
    return { ...found, ...worst };
}
async function openRating(document, checks) {
    const said = await open(document, "stoa-rating+jwt", checks);
    const stars = said["stars"];
    if (said["v"] !== 1 || typeof said["jti"] !== "string" || !Number.isInteger(stars) || Number(stars) < 1 || Number(stars) > 5) {
        throw new Error("the document is no rating");
    }
    return said;
}
/** Returns a rating if one participant of the receipt's order gave it to the other. Between the two documents the log may have
 * begun a new epoch. */
function ofReceipt(rating, receipt) {
    const [customer, contractor] = [members(receipt["customer"])["id"], members(receipt["contractor"])["id"]];
    const { author_id: author, subject_id: subject } = rating;
    const parties = (author === customer && subject === contractor) || (author === contractor && subject === customer);
    const issued = hostOf(String(rating["iss"])).host === hostOf(String(receipt["iss"])).host;
    if (!parties || !issued || rating["sub"] !== receipt["sub"] || rating["receipt"] !== receipt["jti"]) {
        throw new Error("a rating is not of this receipt");
    }
    return rating;
}
/** Checks signature and proof of a document, and returns its payload. Throws if it is invalid. */
async function open(document, kind, checks) {
    const { jws, salt, index, proof } = document;
    const parts = String(jws).split(".");
    const [head, body, signature] = parts.map(decodeUrl);
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
    if (key && !signedBy(utf8(`${parts[0]}.${parts[1]}`), signature, key.raw)) {
        throw new Error("the signature is wrong");
    }
    const payload = members(json(body));
    const issuer = String(payload["iss"]);
    const problem = index == null || proof == null ?
        { finding: "unlogged", reason: "the file has no proof; fetch it again later" } :
        await included(await documentEntry(decode(salt), jws), proof, index, issuer, checks);
    for (const one of [trusted && await announced(id, trusted, issuer, checks), problem]) {
        if (one) {
            checks.problems.push(one);
        }
    }
    return payload;
}
/** Checks that an issuer's log announces the signing key: a key that a server shows to a single reader is in no log. Without a
 * trusted log key nothing can be checked, and the document itself is unvouched. */
async function announced(id, key, issuer, checks) {
    if (checks.logs.length === 0) {
        return undefined;
    }
    let why = "the key set has no proof";
    if (key.index !== null && key.proof !== null) {
        try {
            const problem = await included(await keyEntry("receipts", key.raw), key.proof, key.index, issuer, checks);
            if (problem?.finding !== "unvouched") {
                return problem;
            }
            why = problem.reason;
        }
        catch (error) {
            why = error instanceof Error ? error.message : String(error);
        }
    }
    return { finding: "unvouched", reason: `the key log does not prove its key ${id}: ${why}` };
}
function documentEntry(salt, jws) {
    if (salt.length !== 16) {
        throw new Error("the proof is of another entry");
    }
    return receiptEntry(salt, jws);
}
/** Checks that an entry is in the log of an issuer. Throws if the proof is wrong. */
async function included(entry, text, index, issuer, checks) {
    const { checkpoint, hashes, index: proven } = parseProof(text);
    if (proven !== index) {
        throw new Error("the proof is of another entry");
    }
    const head = parseHead(checkpoint.slice(0, checkpoint.indexOf("\n\n") + 1));
    if (hostOf(head.origin).host !== hostOf(issuer).host) {
        throw new Error("the proof is not of the log of " + issuer);
    }
    await checkIncluded(head, index, entry, hashes);
    for (const log of checks.logs) {
        const signed = await openCheckpoint(checkpoint, log, checks.witnesses).catch((error) => {
            if (error instanceof LogError && error.code === "unsigned") {
                return undefined;
            }
            throw error;
        });
        if (signed) {
            const missing = checks.witnesses.find(({ name }) => !signed.by.has(name));
            return missing && { finding: "unlogged", reason: `the witness ${missing.name} has not signed the head of the log` };
        }
    }
    return { finding: "unvouched", reason: `the head of the log ${head.origin} has no signature by a log key of yours` };
}
/** The keys of a JSON Web Key Set by their thumbprints (RFC 7638). */
async function keysOf(set) {
    const keys = new Map();
    for (const one of (set === undefined || set === null ? [] : members(set)["keys"])) {
        const { kty, crv, x, log_index: index, log_proof: proof } = members(one);
        if (kty !== "OKP" || crv !== "Ed25519" || typeof x !== "string") {
            continue;
        }
        const thumbprint = await sha256(utf8(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`));
        keys.set(encodeUrl(thumbprint), {
            raw: decodeUrl(x), index: typeof index === "number" ? index : null, proof: typeof proof === "string" ? proof : null,
        });
    }
    return keys;
}
function members(value) {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
        throw new Error("it is no JSON of a receipt");
    }
    return value;
}
function json(raw) {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(raw));
}
function signedBy(text, signature, key) {
    return signature.length === 64 && key.length === 32 && nacl.sign.detached.verify(text, signature, key);
}
