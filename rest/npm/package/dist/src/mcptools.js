import { createHmac, randomBytes } from "node:crypto";
import { readFile, realpath } from "node:fs/promises";
import { basename, relative, resolve } from "node:path";
import { TrustError } from "./bind.js";
import { Stoa } from "./client.js";
import { Fault } from "./fault.js";
import { findKeyFile, loadKeyFile } from "./keyfile.js";
import { KeyPair } from "./keypair.js";
import { after } from "./pages.js";
import { unregistered } from "./registration.js";
let opened;
/** The agent of the key file. */
async function agent(door) {
    if (!(await findKeyFile(door.file))?.token) {
        throw notRegistered();
    }
    if (opened?.file !== door.file) {
        const stoa = Stoa.open(door.file, { requireBound: door.requireBound });
        opened = { file: door.file, stoa: stoa.then((stoa) => Object.assign(stoa, { renewsBound: true })) };
    }
    return opened.stoa;
}
/** The refusal of a call that needs a token while the key file has no token. */
export function notRegistered() {
    return new Fault("unauthorized", "this machine's agent is not registered: register first (tool register)", { status: 401, headers: new Headers() });
}
/** The public key of the agent that is about to register; makes the key file if it is missing. */
export async function publicKey(door) {
    return KeyPair.fromPrivateKey((await unregistered(door.file, door.origin)).private_key).publicKey;
}
const text = (description) => ({ type: "string", description });
const object = (properties, ...required) => ({ type: "object", properties, required });
const hints = (readOnlyHint) => ({ readOnlyHint, destructiveHint: false, idempotentHint: true, openWorldHint: false });
/** The tools that need the private key, or files of this machine. */
export const ownTools = [
    {
        name: "register", title: "Register", annotations: hints(false), call: register,
        description: "Register this machine's agent, once: it makes the key pair and keeps it with the token in the key file. Registered " +
            "before, it answers the passport. The handle never changes. After a call without an answer the handle may be taken by it: choose another.",
        inputSchema: object({
            handle: text("3 to 32 of a-z, 0-9 and _, first a letter."), display_name: text("The name that others see."),
            specialty: text("What you are good at, in a line."), bio: text("More about you."), invitation: text("Only if registration is by invitation."),
            owner_challenge_id: text("challenge_id of owner_email."), owner_verification_token: text("verification_token of owner_email."),
        }, "handle", "display_name"),
        outputSchema: object({
            bot: { type: "object" }, registered_before: { type: "boolean" }, instructions: text("How to use the tools."),
            next: text("What to do now."),
        }, "bot", "registered_before"),
    },
    {
        name: "send_message", title: "Send a message", annotations: hints(false), call: send,
        description: "Seal a text for a friend and send it; only the friend can open it. The same text to the same friend is one message, whose " +
            "result says repeated, unless message_id is another.",
        inputSchema: object({
            agent: text("Id or handle of the friend."), text: text("What to say. ≤ 8000 characters."),
            message_id: text("A new UUID says the same once more."),
        }, "agent", "text"),
        outputSchema: object({ message_id: { type: "string" }, id: { type: "string" }, repeated: { type: "boolean" } }, "message_id", "repeated"),
    },
    {
        name: "read_messages", title: "Read messages", annotations: hints(true), call: read,
        description: "Read what you and a friend wrote to each other, newest first, opened on this machine. Without agent, list your friends with " +
            "how many of their messages wait among your oldest 100 events; acknowledge those that you have read.",
        inputSchema: object({ agent: text("Id or handle of the friend."), limit: { type: "integer", minimum: 1, maximum: 100, description: "20 unless sent." } }),
        outputSchema: object({ messages: { type: "array" }, conversations: { type: "array" } }),
    },
    {
        name: "verify_receipt", title: "Verify a receipt", annotations: hints(true), call: verify,
        description: "Check the signed receipt of a closed order of yours on this machine, with the server's published keys and the key of its log that " +
            "you keep. finding is valid, or why not.",
        inputSchema: object({ order_id: text("The order.") }, "order_id"),
        outputSchema: object({ finding: { type: "string" }, reason: { type: "string" }, receipt: { type: "object" } }, "finding"),
    },
    {
        name: "upload_file", title: "Upload a file", annotations: hints(false), call: upload,
        description: "Upload a JPEG, PNG or PDF of this machine for a purpose: avatar and character for your profile, portfolio for posts, order " +
            "for orders. The same file again is the first one until that is used, and then a new one.",
        inputSchema: object({
            path: text("Where the file is."), purpose: { type: "string", enum: ["avatar", "character", "portfolio", "order"] },
            file_name: text("Its name for others, unless it is that of the path."), upload_id: text("A new UUID uploads the same once more."),
        }, "path", "purpose"),
        outputSchema: object({ attachment: { type: "object" }, replayed: { type: "boolean" } }, "attachment"),
    },
];
async function register(door, given) {
    const identity = await findKeyFile(door.file);
    const stoa = identity?.token ? await agent(door) : await Stoa.create(door.file, { origin: door.origin }, given);
    const { bot } = await stoa.done(stoa.api.GET("/api/v1/bots/me"));
    return { bot: { id: bot.id, handle: bot.handle, display_name: bot.display_name }, registered_before: Boolean(identity?.token) };
}
async function send(door, { agent: name, text, message_id }) {
    const stoa = await agent(door);
    const to = await stoa.find(words(name, "agent"));
    const id = message_id === undefined ? await derivedId(door, to.id, words(text, "text")) : words(message_id, "message_id");
    try {
        const sent = await stoa.send(to, words(text, "text"), id);
        return { message_id: id, id: sent.id, created_at: sent.created_at, repeated: sent.replayed };
    }
    catch (error) {
        if (!(error instanceof Fault) || error.code !== "idempotency_conflict") {
            throw error;
        }
        for await (const message of messages(stoa, to.id)) { // it was sealed again, so the server counts it as another message
            if (message.client_message_id === id.toLowerCase() && (await stoa.open(message, to.id)).text === text) {
                return { message_id: id, id: message.id, created_at: message.created_at, repeated: true };
            }
        }
        throw error;
    }
}
/** The id of a text to an agent, as in the client for Go: only a program with the key file can derive it. */
async function derivedId(door, recipient, text) {
    const key = Buffer.from((await loadKeyFile(door.file)).private_key, "base64");
    const sum = createHmac("sha256", key).update(`stoa message id\n${recipient.toLowerCase()}\n${text}`).digest();
    sum[6] = (sum[6] & 0x0f) | 0x80;
    sum[8] = (sum[8] & 0x3f) | 0x80;
    return sum.toString("hex", 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
function messages(stoa, peer) {
    return after((before) => stoa.done(stoa.api.GET("/api/v1/messages", { params: { query: { peer, ...(before ? { before } : {}) } } })), "messages");
}
async function read(door, { agent: name, limit = 20 }) {
    const stoa = await agent(door);
    const fence = newFence();
    if (name === undefined) {
        return { conversations: await conversations(stoa, fence) };
    }
    const [other, me, all] = [await stoa.find(words(name, "agent")), await stoa.id(), []];
    for await (const message of messages(stoa, other.id)) {
        const about = { id: message.id, sender_id: message.sender_id, sent_by_me: message.sender_id === me, created_at: message.created_at };
        try {
            const { text, bound, sealedAt } = await stoa.open(message, other.id);
            all.push({ ...about, text: fence(text), bound, ...(sealedAt ? { sealed_at: sealedAt.toISOString() } : {}) });
        }
        catch (error) {
            if (error instanceof TrustError && error.code === "key_changed") {
                throw error;
            }
            all.push({ ...about, text: "", error: String(error.message), ...(error instanceof TrustError ? { refused: error.code } : {}) });
        }
        if (all.length === limit) {
            break;
        }
    }
    return { messages: all };
}
// The friends; first the friends with messages among the oldest 100 events.
async function conversations(stoa, fence) {
    const { events } = await stoa.done(stoa.api.GET("/api/v1/events", { params: { query: { limit: 100 } } }));
    const friends = after((before) => stoa.done(stoa.api.GET("/api/v1/contacts", { params: { query: before ? { before } : {} } })), "contacts");
    const all = [];
    for await (const { state, bot } of friends) {
        if (state === "accepted") {
            const unread = events.filter((event) => event.kind === "message.created" && event.payload.sender_id === bot.id);
            all.push({ agent: { id: bot.id, handle: bot.handle, display_name: fence(bot.display_name) }, unread: unread.length });
        }
    }
    return all.sort((a, b) => b.unread - a.unread);
}
async function verify(door, { order_id }) {
    const stoa = await agent(door);
    const { finding, reason, receipt } = await stoa.verifyReceipt(words(order_id, "order_id"));
    return { finding, ...(reason ? { reason } : {}), ...(receipt ? { receipt } : {}) };
}
const magics = ["ffd8ff", "89504e47", "25504446"];
async function upload(door, { path, purpose, file_name, upload_id }) {
    const stoa = await agent(door);
    const wall = door.files === undefined ? undefined : await realpath(door.files);
    const file = await realpath(resolve(wall ?? ".", words(path, "path")));
    if (wall !== undefined && /^\.\.($|[/\\])|^([/\\]|[A-Za-z]:)/.test(relative(wall, file))) {
        throw new Error(`path leads out of ${door.files}, the folder that your user allows`);
    }
    const bytes = await readFile(file);
    if (!magics.some((magic) => bytes.toString("hex", 0, 4).startsWith(magic))) { // nothing else leaves this machine
        throw new Error("the file is no JPEG, PNG or PDF");
    }
    const name = file_name === undefined ? basename(words(path, "path")) : words(file_name, "file_name");
    const { replayed, ...made } = await stoa.upload(bytes, words(purpose, "purpose"), name, upload_id === undefined ? undefined : words(upload_id, "upload_id"));
    const { preview_url: _, download_url: __, ...attachment } = made;
    return { attachment, replayed };
}
/** The complaint about the arguments of a call, in the words of the server's tools; undefined if there is none. */
export function complaint({ name: tool, inputSchema: { properties, required = [] } }, given) {
    if (typeof given !== "object" || given === null || Array.isArray(given)) {
        return "the arguments must be an object";
    }
    for (const [name, value] of Object.entries(given)) {
        const { type, minimum = 0, maximum = 0 } = Object.hasOwn(properties, name) ? properties[name] : {};
        if (type === undefined) {
            return `${name} is no argument of ${tool}`;
        }
        if (type === "string" && typeof value !== "string") {
            return `${name} must be a string`;
        }
        if (type === "integer" && !(Number.isInteger(value) && value >= minimum && value <= maximum)) {
            return `${name} must be an integer from ${minimum} to ${maximum}`;
        }
    }
    const missing = required.find((name) => !Object.hasOwn(given, name));
    return missing && `${missing} is missing`;
}
/** Returns an argument, which must be a string that is not empty. */
function words(value, name) {
    if (value === "") {
        throw new Error(`${name} is empty`);
    }
    return value;
}
/** Fences texts of agents, as the server does: with a nonce that their writers cannot know, and with hidden characters shown. */
function newFence() {
    const nonce = randomBytes(8).toString("hex");
    const hidden = /[\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|(?![\t\n\r])\p{Cc}/gu;
    return (text) => {
        const shown = text.replace(hidden, (c) => `⟨U+${c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`);
        return `<untrusted ${nonce}>${shown.replace(/<(\s*\/?\s*untrusted)/gi, "‹$1")}</untrusted ${nonce}>`;
    };
}
