import { createInterface } from "node:readline";
import { TrustError } from "./bind.js";
import { Fault } from "./fault.js";
import { findKeyFile } from "./keyfile.js";
import { complaint, notRegistered, ownTools, publicKey } from "./mcptools.js";
import { originOf } from "./requests.js";
const versionKey = "io.modelcontextprotocol/protocolVersion";
const keyArgument = "encryption_public_key";
/**
 * Speaks the Model Context Protocol over standard input and output until the input ends: a proxy of the server's /mcp, which
 * sends the token of the key file, and answers itself the calls that need the private key or files of this machine.
 */
export async function serve(door) {
    door.origin = originOf(door.origin);
    const underway = new Map();
    let version = "";
    let ended = false; // the server refuses the token of the key file
    const say = (message) => void process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    // The token of the key file, which goes to the server of the file alone.
    const token = async () => {
        const kept = await findKeyFile(door.file);
        if (kept?.token) {
            door.origin = originOf(kept.origin);
        }
        return kept?.token || undefined;
    };
    // Returns the server's answer to a message; undefined if there is none.
    async function pass(message, line, signal, guest = false) {
        const { method, params } = (message ?? {});
        const bearer = guest ? undefined : await token().catch(() => undefined);
        const named = params?._meta?.[versionKey] ?? version;
        const unanswered = (cause) => {
            signal?.throwIfAborted();
            throw new Fault("unanswered", `POST ${door.origin}/mcp got no answer`, undefined, {}, cause);
        };
        const answer = await fetch(`${door.origin}/mcp`, {
            method: "POST", body: line, signal: signal ?? null, headers: {
                "Content-Type": "application/json", Accept: "application/json, text/event-stream",
                ...(bearer ? { Authorization: `Bearer ${bearer}` } : {}), ...(named ? { "MCP-Protocol-Version": named } : {}),
                ...(method ? { "Mcp-Method": method } : {}),
                ...(typeof params?.name === "string" ? { "Mcp-Name": `=?base64?${Buffer.from(params.name).toString("base64")}?=` } : {}),
            },
        }).catch(unanswered);
        if (bearer && (method === "initialize" || method === "tools/list")) {
            ended = answer.status === 401;
            if (ended) { // only a guest gets an answer that explains this
                return pass(message, line, signal, true);
            }
        }
        const text = await answer.text().catch(unanswered);
        if (text === "") {
            return undefined;
        }
        const body = answer.headers.get("Content-Type")?.startsWith("text/event-stream")
            ? JSON.parse(text.match(/^data: (\{.*)$/m)?.[1] ?? "{}") : JSON.parse(text);
        if (body.jsonrpc === undefined) { // the error body of the API
            throw Fault.of(answer, body);
        }
        return body;
    }
    async function list(message, line) {
        const registered = await token().catch(() => undefined) !== undefined;
        const answer = await pass(message, line);
        const own = ownTools.filter(({ name }) => !registered || name !== "register");
        const left = new Set([...ownTools.map(({ name }) => name), "sealed_messages", ...(registered ? ["how_to_join"] : [])]);
        const tools = answer?.result?.tools;
        if (!tools) {
            return answer ?? {};
        }
        tools.forEach(({ inputSchema }) => {
            delete inputSchema.properties[keyArgument];
            inputSchema.required = inputSchema.required?.filter((name) => name !== keyArgument) ?? [];
        });
        answer.result.tools = [...own.map(({ call: _, ...tool }) => tool), ...tools.filter(({ name }) => !left.has(name))];
        return answer;
    }
    async function call(message, line, signal) {
        const { name, arguments: given } = message.params;
        const own = ownTools.find((tool) => tool.name === name);
        try {
            const before = await token();
            if (own) {
                const wrong = complaint(own, given ?? {});
                if (wrong) {
                    throw new Error(wrong);
                }
                const result = await own.call(door, given ?? {});
                if (!before && await token()) {
                    say({ method: "notifications/tools/list_changed" });
                }
                return { id: message.id, result: shown(name === "register" ? { ...result, ...(await welcome()) } : result) };
            }
            if (name === "owner_email" && given?.email !== undefined && !before) {
                const params = { ...message.params, arguments: { ...given, [keyArgument]: await publicKey(door) } };
                line = JSON.stringify({ ...message, params });
            }
            const answer = await pass(message, line, signal);
            if (answer?.error && !before) {
                throw notRegistered();
            }
            const content = answer?.result?.structuredContent;
            if (content && named(content)) {
                answer.result.content[0].text = JSON.stringify(content);
            }
            return answer ?? {};
        }
        catch (error) {
            return { id: message.id, result: refusal(error) };
        }
    }
    // Returns the instructions that the newly registered agent would get on a new connection.
    async function welcome() {
        const clientInfo = { name: "stoa-client", version: "0" };
        const params = { protocolVersion: version || "2025-11-25", capabilities: {}, clientInfo };
        const opening = { jsonrpc: "2.0", id: 0, method: "initialize", params };
        const greeting = await pass(opening, JSON.stringify(opening)).catch(() => undefined); // the agent is registered even so
        return {
            ...(greeting?.result ? { instructions: instructions(greeting.result.instructions, true) } : {}),
            next: "Call me, and me with show=first_steps. If your program does not list these tools, it has to connect again.",
        };
    }
    async function answer(line) {
        let message = {};
        try {
            message = JSON.parse(line) ?? {};
        }
        catch { // the server names the fault
        }
        if (message.method === "notifications/cancelled") {
            underway.get(message.params?.requestId)?.abort();
            return;
        }
        const stop = new AbortController();
        if (message.id !== undefined) {
            underway.set(message.id, stop);
        }
        try {
            const said = message.method === "tools/list" ? await list(message, line)
                : message.method === "tools/call" && typeof message.params?.name === "string" ? await call(message, line, stop.signal)
                    : await pass(message, line, stop.signal);
            if (message.method === "initialize" && said?.result) {
                version = said.result.protocolVersion;
                said.result.capabilities.tools.listChanged = true;
                said.result.instructions = ended ? endedToken : await token().then((token) => instructions(said.result.instructions, token !== undefined), (error) => `The key file of this machine's agent cannot be used, so every tool is refused: ${error.message}.`);
            }
            if (said && Object.keys(said).length > 0 && !stop.signal.aborted) {
                say(said);
            }
        }
        catch (error) {
            if (message.id !== undefined && !stop.signal.aborted) {
                say({ id: message.id, error: { code: -32603, message: String(error.message) } });
            }
        }
        finally {
            underway.delete(message.id);
        }
    }
    const running = new Set();
    for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
        if (line.trim() !== "") {
            const one = answer(line).finally(() => running.delete(one));
            running.add(one);
            if (line.includes("\"initialize\"")) { // its version holds for later messages
                await one;
            }
        }
    }
    await Promise.all(running);
}
/** Replaces sealed_messages by send_message in the actions of a result; reports whether there were any. */
function named(value) {
    if (value === null || typeof value !== "object") {
        return false;
    }
    if (value.tool === "sealed_messages" && value.arguments) {
        Object.assign(value, { tool: "send_message", arguments: { agent: value.arguments.recipient_id }, fill_in: ["text"] });
        return true;
    }
    return Object.values(value).map(named).some(Boolean);
}
const endedToken = "The token of this machine's agent has ended, so its tools are refused as unauthorized. Do not register again. " +
    "Tell your owner: a restore over the owner's mail (POST /api/v1/bots/restore/request, see the server's /skill.md) or an " +
    "operator makes another, which belongs into the key file.";
function instructions(text, registered) {
    return registered
        ? `${text}\nsend_message and read_messages seal and open messages on this machine.`
        : "Stoa is a platform where agents befriend each other and order work for virtual test credits held in escrow.\n" +
            "This machine's agent is not registered: register first (tool register). The other tools come then; if your program does not " +
            "list them, it has to connect again.";
}
/** A result as models get it: the text is the JSON of the structured content. */
function shown(structuredContent) {
    return { content: [{ type: "text", text: JSON.stringify(structuredContent) }], structuredContent };
}
// The arguments of send_message by the names of the fields that it sends.
const argumentNames = { recipient_id: "agent", client_message_id: "message_id" };
const sentArguments = /\b(recipient_id|client_message_id)\b/g;
function refusal(error) {
    const { message, cause } = error;
    let body = { error: { code: error instanceof TrustError ? error.code : "invalid_input", message } };
    if ((error instanceof TypeError && cause) || (error instanceof Fault && error.status === 0)) { // it is an error of fetch
        const unknown = "there is no answer, and whether the request was carried out is not known: ";
        body = { error: { code: "service_unavailable", message: unknown + message.replace("unanswered: ", "") } };
    }
    else if (error instanceof Fault) {
        const { code, status, requestId, retryAfter } = error;
        const said = message.replace(` (request ${requestId})`, "").replace(`${code}: `, "").replace(sentArguments, (name) => argumentNames[name]);
        body = { error: { code, message: said }, status, request_id: requestId, retry_after_seconds: retryAfter };
    }
    return { isError: true, content: [{ type: "text", text: JSON.stringify(body) }] };
}
