// The vectors that every client checks itself against: sealed messages and derived operation ids.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { mkdtemp, readdir, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { boundNonce, isBound, sealedAt } from "../src/bind.js";
import { derivedOperationId, type Envelope, FileNonceStore, KeyPair, Nonces, TrustError } from "../src/index.js";

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

interface Binding {
  messages: {
    name: string;
    sender_private_key: string;
    recipient_private_key: string;
    fresh: string;
    text: string;
    sender_id: string;
    envelope: Envelope;
    finding: string;
    sealed_at: number;
  }[];
  openings: { name: string; peer_public_key: string; nonce: string; message_id: string; event_id: string; finding: string; line: string }[];
}

const read = <T>(name: string) => JSON.parse(readFileSync(new URL(`../../../testdata/${name}`, import.meta.url), "utf8")) as T;
const binding = read<Binding>("binding.json");

for (const box of read<Box[]>("boxes.json")) {
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

for (const id of read<Id[]>("ids.json")) {
  test(`a derived id: ${id.name}`, () => {
    assert.equal(derivedOperationId(id.method, id.path, id.body), id.operation_id);
  });
}

// The finding about a message by its nonce.
const findingOf = (of: () => boolean) => {
  try {
    return of() ? "bound" : "unbound";
  } catch (error) {
    return (error as TrustError).code;
  }
};

for (const vector of binding.messages) {
  test(`a message: ${vector.name}`, () => {
    const { envelope } = vector;
    const message = { ...envelope, sender_id: vector.sender_id };
    assert.equal(findingOf(() => isBound(message)), vector.finding);
    assert.equal(sealedAt(envelope.nonce).getTime() / 1000, vector.sealed_at);
    for (const key of [vector.sender_private_key, vector.recipient_private_key]) {
      assert.equal(KeyPair.fromPrivateKey(key).open(envelope), vector.text);
    }
    if (vector.finding === "bound") {
      const nonce = boundNonce(message, Uint8Array.from(atob(vector.fresh), (character) => character.charCodeAt(0)));
      assert.equal(btoa(String.fromCharCode(...nonce)), envelope.nonce);
      const { encryption_version: _, ...ids } = envelope;
      const sealed = KeyPair.fromPrivateKey(vector.sender_private_key)
        .seal(vector.text, ids.recipient_id, ids.recipient_public_key, ids.client_message_id, nonce);
      assert.deepEqual(sealed, envelope);
    }
  });
}
assert.ok(binding.messages.length >= 12);

test("openings are remembered", async () => {
  const folder = await mkdtemp(join(tmpdir(), "stoa-"));
  let written = "";
  for (const vector of binding.openings) {
    const nonces = new Nonces(new FileNonceStore(folder)); // each time as after a restart
    const finding = await nonces.claim(vector.peer_public_key, vector.nonce, vector.message_id, vector.event_id || undefined)
      .then(() => "opened", (error: unknown) => (error as TrustError).code);
    assert.equal(finding, vector.finding, vector.name);
    const before = written;
    written = (await Promise.all((await readdir(folder)).sort().map((name) => readFile(join(folder, name), "utf8")))).join("");
    assert.equal(written.slice(before.length).trimEnd(), vector.line, vector.name);
  }
});
