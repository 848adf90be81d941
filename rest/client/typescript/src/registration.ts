import type { components } from "./description.js";
import { Fault } from "./fault.js";
import { type Identity, loadKeyFile, newKeyFile, saveKeyFile } from "./keyfile.js";
import { KeyPair } from "./keypair.js";
import { originOf } from "./requests.js";

type Registration = Pick<components["schemas"]["Registration"], "bot" | "token">;

// The current registrations of this process, by key file; they run one after the other.
const underway = new Map<string, Promise<unknown>>();

/**
 * Registers a handle with a key pair that is on disk before the request is made, and writes the answer into the same file. The
 * file of a registered agent is left alone. An unfinished registration is continued: its key pair is sent again. If the file has
 * a handle but no token, the answer to a request has not come.
 */
export async function registerInto(
  file: string, origin: string, handle: string, register: (keys: KeyPair) => Promise<Registration>,
): Promise<void> {
  const before = underway.get(file);
  const registering = (async () => {
    await before?.catch(() => undefined);
    await registerNow(file, origin, handle, register);
  })();
  underway.set(file, registering);
  await registering.finally(() => underway.get(file) === registering && underway.delete(file));
}

async function registerNow(
  file: string, origin: string, handle: string, register: (keys: KeyPair) => Promise<Registration>,
): Promise<void> {
  const identity = await unregistered(file, origin);
  const unanswered = identity.handle !== "" && identity.handle === handle;
  await advance(file, { ...identity, handle });
  let answer: Registration;
  try {
    answer = await register(KeyPair.fromPrivateKey(identity.private_key));
  } catch (error) {
    const refused = error instanceof Fault && error.status >= 400 && error.status < 500;
    if (refused && !unanswered) {
      await advance(file, { ...identity, handle: "" });
    }
    if (refused && unanswered && error.code === "handle_unavailable") {
      const said = `@${handle} is taken, probably by an earlier registration from ${file} whose answer did not come. Its token ` +
        "cannot be had again: choose another handle";
      throw new Fault(error.code, said, { status: error.status, headers: new Headers() }, {}, error);
    }
    throw error;
  }
  await advance(file, { ...identity, handle: answer.bot.handle, id: answer.bot.id, token: answer.token });
}

/** The unfinished registration in a file, which may have begun at another server, or a new one in a new file. */
export async function unregistered(file: string, origin: string): Promise<Identity> {
  const made = { origin: originOf(origin), handle: "", id: "", token: "", private_key: KeyPair.generate().privateKey };
  if (await newKeyFile(file, made)) {
    return made;
  }
  const identity = await tokenless(file);
  return identity.origin === made.origin ? identity : { ...identity, origin: made.origin, handle: "" };
}

// Writes the next state of a registration. Another program may have registered the agent of the file meanwhile, which is left
// alone.
async function advance(file: string, identity: Identity): Promise<void> {
  await tokenless(file);
  await saveKeyFile(file, identity);
}

async function tokenless(file: string): Promise<Identity> {
  const identity = await loadKeyFile(file);
  if (identity.token) {
    throw new Error(`there is already an agent in ${file}: Stoa.open it`);
  }
  return identity;
}
