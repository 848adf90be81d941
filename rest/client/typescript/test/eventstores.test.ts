import assert from "node:assert/strict";
import { appendFile, mkdtemp, readFile, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { FileEventStore } from "../src/index.js";

const fresh = async () => join(await mkdtemp(join(tmpdir(), "stoa-seen-")), "agent.key.seen");

test("events that were handled are known to the next process", async () => {
  const path = await fresh();
  const store = new FileEventStore(path);
  assert.equal(await store.has("a"), false);
  await Promise.all(["a", "b", "c"].map((id) => store.add(id)));
  const next = new FileEventStore(path);
  for (const id of ["a", "b", "c"]) {
    assert.equal(await next.has(id), true);
  }
  assert.equal(await next.has("d"), false);
  assert.equal((await stat(path)).mode & 0o777, 0o600);
});

test("a crash costs only the line that it has cut", async () => {
  const path = await fresh();
  await writeFile(path, "one\ntw", { mode: 0o600 });
  const store = new FileEventStore(path);
  assert.equal(await store.has("two"), false);
  await store.add("three");
  const next = new FileEventStore(path);
  assert.deepEqual([await next.has("one"), await next.has("three"), await next.has("twthree")], [true, true, false]);
});

test("a file keeps the latest ids only", async () => {
  const path = await fresh();
  await appendFile(path, Array.from({ length: 30 }, (_, i) => `id-${i}\n`).join(""), { mode: 0o600 });
  const store = new FileEventStore(path, 10);
  assert.deepEqual([await store.has("id-19"), await store.has("id-20")], [false, true]);
  assert.equal((await readFile(path, "utf8")).split("\n").length, 11);
});
