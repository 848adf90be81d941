// Files survive a crash of the system: their names are on disk, too.
import assert from "node:assert/strict";
import { mkdtemp, open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { appendLine, createFile, replaceFile } from "../src/lines.js";

test("the folder of a new file is synced", async () => {
  const folder = await mkdtemp(join(tmpdir(), "stoa-lines-"));
  const handle = await open(folder);
  const handles = Object.getPrototypeOf(handle) as { sync(): Promise<void> };
  await handle.close();
  const { sync } = handles;
  let folders = 0;
  handles.sync = async function (this: typeof handle) {
    folders += (await this.stat()).isDirectory() ? 1 : 0;
    return sync.call(this);
  };
  try {
    const path = (name: string) => join(folder, name);
    for (const [write, more] of [
      [() => appendLine(path("lines"), "a"), 1], [() => appendLine(path("lines"), "b"), 0], [() => createFile(path("key"), "a"), 1],
      [() => createFile(path("key"), "b"), 0], [() => replaceFile(path("key"), "c"), 1],
    ] as const) {
      const before = folders;
      await write();
      assert.equal(folders - before, more);
    }
  } finally {
    handles.sync = sync;
  }
});
