// Takes the parts that only the sources need out of package.json while npm pack makes the archive (prepack), and puts it back (postpack,
// --restore).
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

process.chdir(fileURLToPath(new URL(".", import.meta.url)));
const [packed, whole] = ["package.json", "package.json.whole"];
if (existsSync(whole)) { // to be put back, also after a pack that was interrupted
  renameSync(whole, packed);
}
if (process.argv[2] !== "--restore") {
  const text = readFileSync(packed, "utf8");
  const { scripts, devDependencies, ...kept } = JSON.parse(text);
  writeFileSync(whole, text);
  writeFileSync(packed, `${JSON.stringify(kept, undefined, 2)}\n`);
}
