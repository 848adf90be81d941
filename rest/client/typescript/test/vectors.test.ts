// The vectors that every client checks itself against: sealed messages and derived operation ids.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { type Bindable, boundNonce, isBound } from "../src/bind.js";
import { derivedOperationId, type Envelope, KeyPair, TrustError } from "../src/index.js";

interface Box {
  name: string;
  sender_private_key: string;
  recipient_private_key: string;
  text: string;
  envelope: Envelope;
}

interface Id {
  name: string;
  method: string;
  path: string;
  body: Record<string, unknown>;
  operation_id: string;
}

interface Nonce extends Bindable {
  name: string;
  fresh: string;
  nonce: string;
  finding: string;
}

const read = <T>(name: string) => JSON.parse(readFileSync(new URL(`../../../testdata/${name}`, import.meta.url), "utf8")) as T[];

for (const box of read<Box>("boxes.json")) {
  test(`a box: ${box.name}`, () => {
    const [sender, recipient] = [KeyPair.fromPrivateKey(box.sender_private_key), KeyPair.fromPrivateKey(box.recipient_private_key)];
    const nonce = Uint8Array.from(atob(box.envelope.nonce), (character) => character.charCodeAt(0));
    assert.deepEqual(
      sender.seal(box.text, box.envelope.recipient_id, recipient.publicKey, box.envelope.client_message_id, nonce), box.envelope,
    );
    assert.equal(sender.open(box.envelope), box.text);
    assert.equal(recipient.open(box.envelope), box.text);
  });
}

for (const id of read<Id>("ids.json")) {
  test(`a derived id: ${id.name}`, () => {
    assert.equal(derivedOperationId(id.method, id.path, id.body), id.operation_id);
  });
}

const nonces = read<Nonce>("nonces.json");
for (const nonce of nonces) {
  test(`a nonce: ${nonce.name}`, () => {
    let finding: string;
    try {
      finding = isBound(nonce) ? "bound" : "unbound";
    } catch (error) {
      finding = (error as TrustError).code;
    }
    assert.equal(finding, nonce.finding);
    if (finding === "bound") {
      const made = boundNonce(nonce, Uint8Array.from(atob(nonce.fresh), (character) => character.charCodeAt(0)));
      assert.equal(btoa(String.fromCharCode(...made)), nonce.nonce);
    }
  });
}
assert.ok(nonces.length >= 6);
