// Builds the package after npm has fetched its sources: from a folder, from git, or before npm pack. npm installs the
// dependencies of a package from git, but only links a folder, so this script installs them first.
import { execFileSync } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";

const run = (program, ...args) => execFileSync(program, args, { stdio: ["ignore", 2, 2], shell: process.platform === "win32" });

process.chdir(fileURLToPath(new URL(".", import.meta.url)));
if (!["typescript", "openapi-fetch"].every((name) => existsSync(`node_modules/${name}`))) {
  run("npm", "ci", "--ignore-scripts", "--include=dev", "--no-global", "--no-audit", "--no-fund");
}
rmSync("dist/src", { recursive: true, force: true });
run("node", "node_modules/typescript/bin/tsc", "--project", "tsconfig.package.json");
