// Receipts: the vectors that both clients check, and an independent reader of JSON Web Signatures.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { compactVerify, createLocalJWKSet, type JSONWebKeySet } from "jose";
import { type ReceiptFinding, type ReceiptTrust, verifyReceipt } from "../src/index.js";

interface Case {
  name: string;
  file: { receipt?: Record<string, unknown> & { jws: string; ratings: { jws: string }[] } };
  keys: boolean;
  log_key: boolean;
  witness: boolean;
  code: number;
  /** The trusted keys of this case, if they differ from the other cases' keys. */
  jwks?: JSONWebKeySet;
}

const vectors = JSON.parse(readFileSync(new URL("../../../testdata/receipts.json", import.meta.url), "utf8")) as {
  keys: JSONWebKeySet;
  log_key: string;
  witness: string;
  cases: Case[];
};

/** The findings by the exit code of `stoa verify`. */
const findings: ReceiptFinding["finding"][] = ["valid", "invalid", "unvouched", "unlogged"];

function trustOf(c: Case): ReceiptTrust {
  return {
    ...c.keys && { keys: c.jwks ?? vectors.keys }, ...c.log_key && { logKeys: [vectors.log_key] }, ...c.witness && { witnesses: [vectors.witness] },
  };
}

test("receipts are found valid or not, as the vectors say", async () => {
  assert.ok(vectors.cases.length > 30);
  for (const c of vectors.cases) {
    const found = await verifyReceipt(c.file, trustOf(c));
    assert.equal(found.finding, findings[c.code], `${c.name}: ${found.reason}`);
    assert.equal(found.reason === undefined, c.code === 0, c.name);
  }
  const found = await verifyReceipt(vectors.cases[0]!.file, trustOf(vectors.cases[0]!));
  assert.equal(found.receipt?.["outcome"], "accepted");
  assert.equal(found.ratings[0]?.["stars"], 5);
});

test("the forms of an archive and a missing proof are read as by stoa verify", async () => {
  const { receipt } = vectors.cases[0]!.file;
  const trust = trustOf(vectors.cases[0]!);
  const { proof: _, ...unlogged } = receipt!;
  for (const [file, trust_, finding] of [
    [receipt, trust, "valid"], [`${receipt!.jws}\n`, trust, "unlogged"], [receipt!.jws, {}, "unvouched"], [{ receipt: unlogged }, trust, "unlogged"],
    [{ ...receipt, order_id: crypto.randomUUID() }, trust, "invalid"], [`${receipt!.jws}x`, trust, "invalid"],
  ] as const) {
    assert.equal((await verifyReceipt(file, trust_)).finding, finding, JSON.stringify(file).slice(0, 40));
  }
});

// The tests of the Go client change all bytes.
test("a file with any other byte is not valid", async () => {
  const c = vectors.cases[0]!;
  const receipt: Record<string, unknown> = { ...c.file.receipt!, ratings: [] };
  for (const member of ["jws", "salt", "proof"]) {
    const text = receipt[member] as string;
    for (let i = 0; i < text.length; i += 3) {
      const changed = text.slice(0, i) + String.fromCharCode(text.charCodeAt(i) ^ 1) + text.slice(i + 1);
      const found = await verifyReceipt({ receipt: { ...receipt, [member]: changed } }, trustOf(c));
      assert.notEqual(found.finding, "valid", `${member}, byte ${i}`);
    }
  }
});

test("a file that is no receipt is invalid, and a key that cannot be read is an error", async () => {
  for (const file of [null, 1, "x", [], {}, { receipt: {} }, { receipt: { jws: "a.b.c" } }, { rating: { jws: 5 } }]) {
    assert.equal((await verifyReceipt(file, {})).finding, "invalid");
  }
  await assert.rejects(verifyReceipt({}, { logKeys: ["x"] }));
  await assert.rejects(verifyReceipt({}, { witnesses: [vectors.log_key] }));
  const [name, , key] = vectors.log_key.split("+");
  await assert.rejects(verifyReceipt({}, { logKeys: [`${name}+00000000+${key}`] }), /the hash of another key/);
});

test("jose reads our documents", async () => {
  const { receipt } = vectors.cases[0]!.file;
  const keys = createLocalJWKSet(vectors.keys);
  for (const [jws, typ] of [[receipt!.jws, "stoa-receipt+jwt"], [receipt!.ratings[0]!.jws, "stoa-rating+jwt"]] as const) {
    const read = await compactVerify(jws, keys);
    assert.equal(read.protectedHeader.typ, typ);
    assert.match(new TextDecoder().decode(read.payload), /"sub":"01a20005/);
  }
});
