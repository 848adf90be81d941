// Removes from package.json the parts that only the sources need while npm pack makes the archive (prepack), and puts the whole
// file back (postpack, --restore).
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

process.chdir(fileURLToPath(new URL(".", import.meta.url)));
const [packed, whole] = ["package.json", "package.json.whole"];
if (existsSync(whole)) { // put it back, also after an interrupted pack
  renameSync(whole, packed);
}
if (process.argv[2] !== "--restore") {
  const text = readFileSync(packed, "utf8");
  const { scripts, devDependencies, ...kept } = JSON.parse(text);
  writeFileSync(whole, text);
  writeFileSync(packed, `${JSON.stringify(kept, undefined, 2)}\n`);
}
