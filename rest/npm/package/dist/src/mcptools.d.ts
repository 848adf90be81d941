import { Fault } from "./fault.js";
/** The options of the proxy. */
export interface Door {
    file: string;
    origin: string;
    files?: string | undefined;
    requireBound?: boolean | undefined;
}
export type Result = Record<string, unknown>;
type Arguments = Record<string, unknown>;
/** A tool as the protocol lists it. */
export interface Tool {
    name: string;
    inputSchema: {
        type: string;
        properties: Record<string, {
            type?: string;
            minimum?: number;
            maximum?: number;
        }>;
        required?: string[];
    };
}
interface OwnTool extends Tool {
    title: string;
    description: string;
    outputSchema: object;
    annotations: object;
    call(door: Door, given: Arguments): Promise<Result>;
}
/** The refusal of a call that needs a token while the key file has no token. */
export declare function notRegistered(): Fault;
/** The public key of the agent that is about to register; makes the key file if it is missing. */
export declare function publicKey(door: Door): Promise<string>;
/** The tools that need the private key, or files of this machine. */
export declare const ownTools: OwnTool[];
/** The complaint about the arguments of a call, in the words of the server's tools; undefined if there is none. */
export declare function complaint({ name: tool, inputSchema: { properties, required } }: Tool, given: unknown): string | undefined;
export {};
