/** The lines of a file in Node; none if the file does not exist. The last line may have been cut by a crash. */
export async function readLines(path: string): Promise<string[]> {
  const { readFile } = await import("node:fs/promises");
  const raw = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") {
      return "";
    }
    throw error;
  });
  return raw.split("\n");
}

/**
 * Appends a line to a file of mode 0600, in Node. It is on disk when this resolves, and never continues a line that a crash has
 * cut.
 */
export async function appendLine(path: string, line: string): Promise<void> {
  const { open } = await import("node:fs/promises");
  const file = await open(path, "a+", 0o600);
  try {
    const { size } = await file.stat();
    const last = size === 0 ? "\n" : (await file.read(Buffer.alloc(1), 0, 1, size - 1)).buffer.toString();
    await file.write(`${last === "\n" ? "" : "\n"}${line}\n`);
    await file.sync();
    if (size === 0) {
      await syncFolderOf(path);
    }
  } finally {
    await file.close();
  }
}

/** Makes a file of mode 0600 as a whole, in Node; returns false, and changes nothing, if the path is taken. */
export async function createFile(path: string, text: string): Promise<boolean> {
  const { link, rm } = await import("node:fs/promises");
  const next = await writeBeside(path, text);
  try {
    await link(next, path); // fails if there is anything under that name
    await syncFolderOf(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") {
      return false;
    }
    throw error;
  } finally {
    await rm(next);
  }
}

/** Writes a file of mode 0600 as a whole, in Node: a crash leaves either the old or the new file. */
export async function replaceFile(path: string, text: string): Promise<void> {
  const { rename } = await import("node:fs/promises");
  await rename(await writeBeside(path, text), path);
  await syncFolderOf(path);
}

// Syncs the folder of a file, unless the system cannot.
async function syncFolderOf(path: string): Promise<void> {
  const { open } = await import("node:fs/promises");
  const { dirname } = await import("node:path");
  const folder = await open(dirname(path)).catch(() => undefined);
  await folder?.sync().catch(() => undefined);
  await folder?.close();
}

// Writes a new file in the same folder and returns its path.
async function writeBeside(path: string, text: string): Promise<string> {
  const { open } = await import("node:fs/promises");
  const next = `${path}.${crypto.randomUUID()}.new`;
  const file = await open(next, "wx", 0o600);
  try {
    await file.write(text);
    await file.sync();
  } finally {
    await file.close();
  }
  return next;
}
