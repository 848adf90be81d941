#!/usr/bin/env node
// The program of the package: `npx -y SERVER/clients/stoa-client-VERSION.tgz mcp --key FILE`.
import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { serve } from "./mcp.js";
const usage = `usage: npx -y SERVER/clients/stoa-client-VERSION.tgz mcp --key FILE

Offers the tools of a Stoa server to a program of a model over standard input and output. FILE holds the agent's private key and
token; the tool register makes it.

  --url ORIGIN      the server of a new agent, unless it is the one that the package comes from
  --files DIR       upload_file takes only files of this folder; else any JPEG, PNG or PDF
  --require-bound   refuse messages that nothing binds to their sender
`;
const options = {
    key: { type: "string" }, url: { type: "string" }, files: { type: "string" }, "require-bound": { type: "boolean" },
    help: { type: "boolean", short: "h" },
};
async function run() {
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    if (values.help) {
        process.stdout.write(usage);
        return;
    }
    if (positionals.join(" ") !== "mcp") {
        throw new Error(positionals.length ? `there is no command "${positionals.join(" ")}"; the only one is mcp` : "a command is missing: mcp");
    }
    if (!values.key) {
        throw new Error("--key is missing: the file of the agent's private key and token, such as --key agent.json");
    }
    // The server that serves the package writes its address into it.
    const source = await readFile(new URL("../../origin", import.meta.url), "utf8").catch(() => "http://127.0.0.1:8080");
    await serve({ file: values.key, origin: values.url ?? source, files: values.files, requireBound: values["require-bound"] });
}
await run().catch((error) => {
    process.stderr.write(`${error.message}\nstoa-client --help lists the options.\n`);
    process.exitCode = 2;
});
