// Each way of installing the package ends in an empty project in which the README's first trade runs and compiles. Most of it
// runs every night: STOA_TEST_SHORT leaves it out.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Server } from "./server.js";

const sources = fileURLToPath(new URL("../..", import.meta.url));
const run = promisify(execFile);
const nightly = { skip: process.env.STOA_TEST_SHORT === "1" };

let server: Server;
let folder: string;
before(async () => {
  server = await Server.start();
  folder = await mkdtemp(join(tmpdir(), "stoa-install-"));
});
after(async () => {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Runs npm in a folder; it uses the network only for packages that its cache lacks. */
const npm = (cwd: string, ...args: string[]) => run("npm", [...args, "--prefer-offline", "--no-audit", "--no-fund"], { cwd });

/** A fresh copy of the sources, without anything that was built or installed. */
async function checkout(name: string): Promise<string> {
  const copy = join(folder, name, "rest/client/typescript");
  await mkdir(copy, { recursive: true });
  const left = ["node_modules", "dist", ".gitignore"].map((entry) => join(sources, entry));
  await cp(sources.replace(/\/$/, ""), copy, { recursive: true, filter: (file) => !left.includes(file) });
  return copy;
}

/** Makes a folder a git repository. */
async function commit(root: string): Promise<string> {
  for (const args of [["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "--message", "sources"]]) {
    await run("git", ["-c", "user.name=x", "-c", "user.email=x@stoa.example", ...args], { cwd: root });
  }
  return root;
}

const ways: Record<string, () => Promise<string>> = {
  async "npm pack"() {
    const copy = await checkout("packed");
    await npm(copy, "pack", "--silent");
    return join(copy, `stoa-client-${await version()}.tgz`);
  },
  "npm install FOLDER": () => checkout("linked"),
  async "npm install git+file of a repository of the package"() {
    return `git+file://${await commit(await checkout("cloned"))}`;
  },
  async "npm install git+file of the server's repository"() {
    await checkout("whole");
    for (const path of ["package.json", "rest/npm/package"]) {
      await cp(join(sources, "../../..", path), join(folder, "whole", path), { recursive: true });
    }
    return `git+file://${await commit(join(folder, "whole"))}`;
  },
  "the server's archive": async () => `${server.origin}/clients/stoa-client-${await version()}.tgz`,
};

interface Manifest {
  version: string;
  scripts?: Record<string, string>;
  devDependencies?: Record<string, string>;
}

const manifest = async (of: string) => JSON.parse(await readFile(join(of, "package.json"), "utf8")) as Manifest;
const version = async () => (await manifest(sources)).version;

/** Compiles a project; its errors are the test's. */
const compile = (project: string) =>
  run("node", [join(sources, "node_modules/typescript/bin/tsc"), "--project", project])
    .catch((error: { stdout: string }) => assert.fail(error.stdout));

/** The README's blocks in a language, in order. */
const blocks = async (language: string) =>
  [...(await readFile(join(sources, "README.md"), "utf8")).matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, "gms"))].map((found) => found[1]!);

for (const [name, source] of Object.entries(ways)) {
  test(`${name} ends in a project that trades`, nightly, async () => {
    const project = await mkdtemp(join(folder, "project-"));
    await writeFile(join(project, "package.json"), "{}");
    const installed = await npm(project, "install", await source());
    if (name === "npm pack" || name === "the server's archive") { // they lack the parts that only the sources need
      assert.doesNotMatch(installed.stdout + installed.stderr, /install.scripts/i);
      const { scripts, devDependencies } = await manifest(join(project, "node_modules/stoa-client"));
      assert.deepEqual([scripts, devDependencies], [undefined, undefined]);
    }
    const [trade] = await blocks("js");
    await writeFile(join(project, "trade.mjs"), trade!);
    const { stdout } = await run("node", ["trade.mjs"], { cwd: project, env: { ...process.env, STOA_URL: server.origin } });
    assert.equal(stdout, "accepted 501000\n");
    const again = await run("node", ["trade.mjs"], { cwd: project, env: { ...process.env, STOA_URL: server.origin } });
    assert.equal(again.stdout, "accepted 502000\n"); // with the same agents

    // The examples compile with the types of the package, in the strictest way and without @types/node.
    const examples = await blocks("ts");
    const declared = "declare const alice: import('stoa-client').Stoa;\ndeclare const console: { log(...said: unknown[]): void };\n";
    await writeFile(join(project, "trade.mts"), `${trade!.replace("process.env.STOA_URL ?? ", "")}\nexport {};\n`);
    await Promise.all(examples.map((example, i) => writeFile(join(project, `example${i}.mts`), example.replace("\n", `\n${declared}`))));
    await writeFile(join(project, "tsconfig.json"), JSON.stringify({
      compilerOptions: { module: "NodeNext", target: "ES2022", lib: ["ES2023", "DOM"], types: [], strict: true, exactOptionalPropertyTypes: true, noEmit: true },
      include: ["*.mts"],
    }));
    await compile(project);
  });
}

test("a project as the README sets it up compiles, runs, and reads the settings of an agent that may be missing", async () => {
  const project = await mkdtemp(join(folder, "project-"));
  await npm(project, "init", "--yes");
  await npm(project, "pkg", "set", "type=module");
  const { devDependencies } = await manifest(sources);
  await npm(project, "install", `${server.origin}/clients/stoa-client-${await version()}.tgz`);
  await npm(project, "install", "--save-dev", `@types/node@${devDependencies!["@types/node"]}`);
  const [settings] = await blocks("json");
  assert.ok(settings!.trim().split("\n").length <= 5);
  await writeFile(join(project, "tsconfig.json"), settings!);
  const [trade] = await blocks("js");
  await writeFile(join(project, "trade.ts"), `${trade!}${`
    import { actionOf, type Fault } from "stoa-client";
    const a: { origin: string; token?: string } = { origin };
    new Stoa({ origin: a.origin, token: a.token });
    const file = await bob.upload(new TextEncoder().encode("%"), "order", "x.pdf").catch((refused: Fault) => refused.code);
    const { order: done } = await alice.done(alice.api.GET("/api/v1/orders/{order_id}", { params: { path: { order_id: order.id } } }));
    console.log(file, actionOf(done, "deliver"), done.result_text?.toUpperCase());
    // @ts-expect-error no such action
    void alice.act(order.id, "finish", order.version).catch(() => undefined);
    // @ts-expect-error no member of that name
    void alice.act(order.id, "dispute", order.version, { text: "x" }).catch(() => undefined);
  `.replace(/^ {4}/gm, "")}`);
  await compile(project);
  const { stdout } = await run("node", ["dist/trade.js"], { cwd: project, env: { ...process.env, STOA_URL: server.origin } });
  assert.equal(stdout, "accepted 501000\ninvalid_file undefined GREEN.\n");
});

test("the archive's package.json has nothing that only the sources need, and npm pack leaves the sources as they were", nightly, async () => {
  const copy = await checkout("kept");
  const before = await readFile(join(copy, "package.json"), "utf8");
  for (let time = 0; time < 2; time++) {
    await npm(copy, "pack", "--silent");
    assert.equal(await readFile(join(copy, "package.json"), "utf8"), before);
  }
  const { stdout } = await run("tar", ["-xzOf", join(copy, `stoa-client-${await version()}.tgz`), "package/package.json"]);
  const { scripts, devDependencies, ...rest } = JSON.parse(before) as Record<string, unknown>;
  assert.deepEqual(JSON.parse(stdout), rest);
  assert.ok(scripts && devDependencies);
});

test("the repository's package.json is that of the package, where it names the same", async () => {
  const [own, root] = await Promise.all(["package.json", "../../../package.json"].map(async (path) =>
    JSON.parse(await readFile(join(sources, path), "utf8")) as Record<string, unknown>));
  for (const member of ["name", "version", "license", "type", "engines", "dependencies"]) {
    assert.deepEqual(root![member], own![member], member);
  }
});

test("the first trade has 15 lines, and nothing in the package points into a document that is not there", nightly, async () => {
  const [trade] = await blocks("js");
  assert.ok(trade!.trim().split("\n").filter((line) => line !== "").length <= 15);
  const { stdout } = await npm(await checkout("read"), "pack", "--json", "--silent");
  const [{ files }] = JSON.parse(stdout) as [{ files: { path: string }[] }];
  const names = files.map(({ path }) => path);
  for (const wanted of ["LICENSE", "README.md", "dist/src/index.js", "dist/src/index.d.ts", "package.json"]) {
    assert.ok(names.includes(wanted), wanted);
  }
  assert.deepEqual(names.filter((path) => !/^(dist\/src\/[a-z]+\.(js|d\.ts)|LICENSE|README\.md|package\.json)$/.test(path)), []);
  for (const path of names) {
    assert.ok(!(await readFile(join(folder, "read/rest/client/typescript", path), "utf8")).includes("§"), path);
  }
});
